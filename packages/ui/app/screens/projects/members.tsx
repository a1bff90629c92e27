import { useState } from 'preact/hooks';
import { useResource } from '../../api/resource.js';
import type { Member, MemberList } from '../../api/types.js';
import { DialogButton, Select } from '../../parts/control/controls.js';
import { Icon } from '../../parts/control/icons.js';
import { ChangeButton } from '../../parts/form/change-button.js';
import { ChangeDialog } from '../../parts/form/dialog.js';
import { SelectField, TextField } from '../../parts/form/field.js';
import { ListScreen } from '../../parts/list/list-screen.js';
import { type Proposal, propose } from '../../state/changes.js';
import { projectName } from '../../state/projects.js';
import { may } from '../../state/session.js';

/** The role that at least one member of a project must have. */
const OWNER = 'owner';

/** The members of a project and their roles. */
export function MembersScreen({ project }: { readonly project: string }) {
  const reply = useResource('listMembers', { params: { project } });
  const { roles = [], users } = reply.data ?? {};
  const ownerRole = roles.find(({ name }) => name.toLowerCase() === OWNER)?.id;
  const owners = users?.filter(({ roleId }) => roleId === ownerRole) ?? [];
  const rowOf = (member: Member) => ({
    project,
    member,
    roles,
    isOnlyOwner: owners.length === 1 && owners[0] === member,
  });
  return (
    <ListScreen
      title={`Members of ${projectName(project)}`}
      noun="member"
      reply={reply}
      items={users?.map(rowOf)}
      keyOf={({ member }) => member.id}
      textOf={({ member }) => nameOf(member)}
      tableClass="members"
      columns={[
        {
          title: 'Member',
          cell: ({ member }) => (
            <>
              <span class="avatar" aria-hidden="true">
                {(member.name ?? '#').trim().slice(0, 1).toUpperCase()}
              </span>
              {nameOf(member)}
            </>
          ),
        },
        { title: 'User ID', isNamed: true, cell: ({ member }) => member.id },
        { title: 'Role', cell: (row) => <Role {...row} /> },
        { title: '', cell: (row) => <RemoveButton {...row} /> },
      ]}
      empty={{
        title: 'No members yet',
        text: 'Members and their roles are for your application: its rules decide what each role may do.',
      }}
      create={
        <DialogButton
          class="primary"
          needs={['addMember', 'applyChanges']}
          project={project}
          dialog={(close) => (
            <AddDialog project={project} roles={roles} isFirst={users?.length === 0} onClose={close} />
          )}
        >
          <Icon name="plus" /> Add member
        </DialogButton>
      }
    />
  );
}

const nameOf = ({ name, id }: Member) => name ?? `User ${id}`;

interface MemberProps {
  readonly project: string;
  readonly member: Member;
  readonly roles: MemberList['roles'];
  readonly isOnlyOwner: boolean;
}

const ONLY_OWNER = 'A project keeps at least one owner. Give another member the role owner first.';

function roleName(roles: MemberList['roles'], roleId: number): string {
  return roles.find(({ id }) => id === roleId)?.name ?? String(roleId);
}

function Role({ project, member, roles, isOnlyOwner }: MemberProps) {
  const name = nameOf(member);
  const isAllowed = may('changeMemberRole', project) && may('applyChanges', project);
  const change = (roleId: number) =>
    propose({
      title: `Change the role of ${name}`,
      changes: [{ op: 'changeMemberRole', ref: { project }, input: { userId: member.id, roleId } }],
      done: `${name} has the role ${roleName(roles, roleId)} now.`,
    });
  if (isOnlyOwner || !isAllowed) {
    return (
      <span title={isOnlyOwner ? undefined : 'Needs the permission changeMemberRole'}>
        {roleName(roles, member.roleId)}
        {isOnlyOwner && <small class="note">{ONLY_OWNER}</small>}
      </span>
    );
  }
  return (
    <Select
      label={`Role of ${name}`}
      value={member.roleId}
      options={roles.map((role) => [role.id, role.name])}
      onChange={(roleId) => void change(Number(roleId))}
    />
  );
}

function RemoveButton({ project, member, roles, isOnlyOwner }: MemberProps) {
  const name = nameOf(member);
  const removal: Proposal = {
    title: `Remove ${name}?`,
    text: `${name} loses the role ${roleName(roles, member.roleId)} in the project ${project}. You can undo it.`,
    confirm: `Confirm: remove ${name}`,
    changes: [{ op: 'removeMember', ref: { project }, input: { userId: member.id, roleId: member.roleId } }],
    done: `${name} was removed from ${project}.`,
  };
  return (
    <ChangeButton
      class="quiet"
      project={project}
      label={`Remove ${name}`}
      proposal={removal}
      obstacle={isOnlyOwner && { title: `${name} is the only owner`, text: ONLY_OWNER }}
    >
      Remove…
    </ChangeButton>
  );
}

interface AddDialogProps extends Pick<MemberProps, 'project' | 'roles'> {
  readonly isFirst: boolean;
  readonly onClose: () => void;
}

function AddDialog({ project, roles, isFirst, onClose }: AddDialogProps) {
  const [userId, setUserId] = useState('');
  const [roleId, setRoleId] = useState((isFirst ? roles[0] : roles.at(-1))?.id ?? 1);
  const add = (): Proposal => {
    const id = userId.trim();
    const input = { userId: /^\d+$/.test(id) ? Number(id) : id, roleId };
    return {
      title: `Add user ${id}`,
      changes: [{ op: 'addMember', ref: { project }, input }],
      done: `User ${id} was added to ${project}.`,
    };
  };
  return (
    <ChangeDialog title="Add member" submit="Add member" proposal={add} onClose={onClose}>
      <TextField
        label="User ID"
        hint="The id of the user in your application, a number."
        path="/userId"
        required
        inputMode="numeric"
        value={userId}
        onChange={setUserId}
      />
      <SelectField
        label="Role"
        path="/roleId"
        value={roleId}
        options={roles.map(({ id, name }) => [id, name])}
        onChange={(id) => setRoleId(Number(id))}
      />
    </ChangeDialog>
  );
}
