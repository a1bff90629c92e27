import { useState } from 'preact/hooks';
import { useResource } from '../api/resource.js';
import type { Member, MemberList } from '../api/types.js';
import { AllowedButton } from '../parts/allowed-button.js';
import { Confirm, FormDialog, Notice } from '../parts/dialog.js';
import { SelectField, TextField } from '../parts/field.js';
import type { ShowRefusal } from '../parts/form.js';
import { Heading } from '../parts/heading.js';
import { Icon } from '../parts/icons.js';
import { WhenLoaded } from '../parts/screen.js';
import { Empty } from '../parts/states.js';
import { propose } from '../state/changes.js';
import { useProjectNames } from '../state/projects.js';
import { may } from '../state/session.js';
import { plural } from '../words.js';

/** The role that at least one member of a project must have. */
const OWNER = 'owner';

/** The members of a project and their roles. */
export function MembersScreen({ project }: { readonly project: string }) {
  const reply = useResource('listMembers', { params: { project } });
  const { data } = reply;
  const [isAdding, setAdding] = useState(false);
  const projectName = useProjectNames();
  const add = (
    <AllowedButton
      class="primary"
      needs={['addMember', 'applyChanges']}
      project={project}
      onClick={() => setAdding(true)}
    >
      <Icon name="plus" /> Add member
    </AllowedButton>
  );
  return (
    <section>
      <div class="screen-head">
        <Heading title={`Members of ${projectName(project)}`} />
        <span class="muted">{data && data.users.length > 0 && plural(data.users.length, 'member')}</span>
        <span class="stretch" />
        {data && data.users.length > 0 && add}
      </div>
      <WhenLoaded reply={reply}>
        {(list) =>
          list.users.length === 0 ? (
            <Empty title="No members yet">
              <p>Members and their roles are for your application: its rules decide what each role may do.</p>
              {add}
            </Empty>
          ) : (
            <MemberTable project={project} list={list} />
          )
        }
      </WhenLoaded>
      {isAdding && data && <AddDialog project={project} list={data} onClose={() => setAdding(false)} />}
    </section>
  );
}

interface MemberTableProps {
  readonly project: string;
  readonly list: MemberList;
}

function MemberTable({ project, list: { roles, users } }: MemberTableProps) {
  const ownerRole = roles.find(({ name }) => name.toLowerCase() === OWNER)?.id;
  const owners = users.filter(({ roleId }) => roleId === ownerRole);
  return (
    <table class="list members">
      <thead>
        <tr>
          <th scope="col">Member</th>
          <th scope="col">User ID</th>
          <th scope="col">Role</th>
          <th scope="col">
            <span class="hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {users.toSorted(byName).map((member) => (
          <MemberRow
            key={member.id}
            project={project}
            member={member}
            roles={roles}
            isOnlyOwner={owners.length === 1 && owners[0]?.id === member.id}
          />
        ))}
      </tbody>
    </table>
  );
}

const nameOf = ({ name, id }: Member) => name ?? `User ${id}`;
const byName = (one: Member, other: Member) => nameOf(one).localeCompare(nameOf(other), undefined, { numeric: true });

interface MemberRowProps {
  readonly project: string;
  readonly member: Member;
  readonly roles: MemberList['roles'];
  readonly isOnlyOwner: boolean;
}

const ONLY_OWNER = 'A project keeps at least one owner. Give another member the role owner first.';

function MemberRow({ project, member, roles, isOnlyOwner }: MemberRowProps) {
  const [isRemoving, setRemoving] = useState(false);
  const name = nameOf(member);
  const role = roles.find(({ id }) => id === member.roleId)?.name ?? String(member.roleId);
  const isAllowed = may('changeMemberRole', project) && may('applyChanges', project);
  const change = (roleId: number) =>
    propose({
      title: `Change the role of ${name}`,
      changes: [{ op: 'changeMemberRole', ref: { project }, input: { userId: member.id, roleId } }],
      done: `${name} has the role ${roles.find(({ id }) => id === roleId)?.name} now.`,
    });
  const remove = () =>
    propose({
      title: `Remove ${name}`,
      changes: [{ op: 'removeMember', ref: { project }, input: { userId: member.id, roleId: member.roleId } }],
      done: `${name} was removed from ${project}.`,
    });
  return (
    <tr>
      <th scope="row">
        <span class="avatar" aria-hidden="true">
          {(member.name ?? '#').trim().slice(0, 1).toUpperCase()}
        </span>
        {name}
      </th>
      <td data-label="User ID">{member.id}</td>
      <td>
        {isOnlyOwner || !isAllowed ? (
          <span title={isOnlyOwner ? undefined : 'Needs the permission changeMemberRole'}>
            {role}
            {isOnlyOwner && <small class="note">{ONLY_OWNER}</small>}
          </span>
        ) : (
          <select
            aria-label={`Role of ${name}`}
            value={member.roleId}
            onChange={({ currentTarget }) => void change(Number(currentTarget.value))}
          >
            {roles.map(({ id, name: label }) => (
              <option key={id} value={id}>
                {label}
              </option>
            ))}
          </select>
        )}
      </td>
      <td class="row-actions">
        <AllowedButton
          class="quiet"
          needs={['removeMember', 'applyChanges']}
          project={project}
          label={`Remove ${name}`}
          onClick={() => setRemoving(true)}
        >
          Remove…
        </AllowedButton>
        {isRemoving &&
          (isOnlyOwner ? (
            <Notice title={`${name} is the only owner`} onClose={() => setRemoving(false)}>
              <p>{ONLY_OWNER}</p>
            </Notice>
          ) : (
            <Confirm
              title={`Remove ${name}?`}
              text={`${name} loses the role ${role} in the project ${project}. You can undo it.`}
              confirm={`Confirm: remove ${name}`}
              onConfirm={remove}
              onClose={() => setRemoving(false)}
            />
          ))}
      </td>
    </tr>
  );
}

interface AddDialogProps extends MemberTableProps {
  readonly onClose: () => void;
}

function AddDialog({ project, list: { roles, users }, onClose }: AddDialogProps) {
  const isFirst = users.length === 0;
  const [userId, setUserId] = useState('');
  const [roleId, setRoleId] = useState((isFirst ? roles[0] : roles.at(-1))?.id ?? 1);
  const add = (show: ShowRefusal) => {
    const id = userId.trim();
    const input = { userId: /^\d+$/.test(id) ? Number(id) : id, roleId };
    const proposal = {
      title: `Add user ${id}`,
      changes: [{ op: 'addMember' as const, ref: { project }, input }],
      done: `User ${id} was added to ${project}.`,
      onApplied: onClose,
    };
    return propose(proposal, show);
  };
  return (
    <FormDialog title="Add member" submit="Add member" onSubmit={add} onClose={onClose}>
      <TextField
        label="User ID"
        hint="The number by which your application knows the user."
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
    </FormDialog>
  );
}
