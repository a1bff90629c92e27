import { addMember, changeMemberRole, removeMember } from '../../src/projects/members.decide.js';
import {
  createProject,
  deleteProject,
  evolveProject,
  type ProjectEvent,
  type ProjectState,
  updateProject,
} from '../../src/projects/project.js';
import { refusalOf } from './refusal.js';

const OWNER = { id: 4, name: 'owner' };
const MEMBER = 5;

function projectState(changes: Partial<ProjectState> = {}): ProjectState {
  return { id: 'shop', name: 'Shop', description: '', createdAt: '2026-01-01T00:00:00.000Z', members: [], ...changes };
}

function after(project: ProjectState | undefined, events: readonly ProjectEvent[]): ProjectState | undefined {
  return events.reduce(evolveProject, project);
}

function withMembers(...members: readonly (readonly [number, number])[]): ProjectState {
  return projectState({ members: members.map(([userId, roleId]) => ({ userId, roleId })) });
}

describe('a project', () => {
  it('is created without members, and with an empty description unless one is given', () => {
    const at = '2026-01-01T00:00:00.000Z';
    expect(after(undefined, createProject(undefined, { id: 'shop', name: 'Shop' }, at))).toEqual(projectState());
    const described = createProject(undefined, { id: 'shop', name: 'Shop', description: 'd' }, at);
    expect(after(undefined, described)).toEqual(projectState({ description: 'd' }));
  });

  it('is not created under a taken id', () => {
    expect(refusalOf(() => createProject(projectState(), { id: 'shop', name: 'x' }, '')).code).toBe('project_exists');
  });

  it('is updated by one event with what really changes', () => {
    const events = updateProject(projectState(), { name: 'Shop', description: 'new' });
    expect(events).toEqual([{ type: 'project-updated', data: { description: 'new' }, before: { description: '' } }]);
    expect(after(projectState(), events)).toEqual(projectState({ description: 'new' }));
    expect(updateProject(projectState(), { name: 'Store' })).toEqual([
      { type: 'project-updated', data: { name: 'Store' }, before: { name: 'Shop' } },
    ]);
    expect(updateProject(projectState(), { name: 'Shop' })).toEqual([]);
    expect(updateProject(projectState(), {})).toEqual([]);
  });

  it('is deleted while it has no flags that are not archived', () => {
    expect(after(projectState(), deleteProject(projectState(), 0))).toBeUndefined();
    expect(refusalOf(() => deleteProject(projectState(), 1))).toMatchObject({ code: 'project_not_empty' });
    expect(refusalOf(() => deleteProject(projectState(), 2)).message).toContain('2 flags');
  });

  it('is never deleted when it is the default one', () => {
    const project = projectState({ id: 'default' });
    expect(refusalOf(() => deleteProject(project, 0)).code).toBe('project_protected');
    expect(refusalOf(() => deleteProject(project, 1)).code).toBe('project_protected');
  });
});

describe('adding a member', () => {
  it('keeps members in the order of their ids', () => {
    const project = withMembers([10, MEMBER], [20, 4]);
    expect(addMember(project, { userId: 9, roleId: 4 })).toEqual([
      { type: 'member-added', data: { userId: 9, roleId: 4 }, before: null },
    ]);
    expect(after(project, addMember(project, { userId: 9, roleId: 4 }))?.members).toEqual(
      withMembers([9, 4], [10, MEMBER], [20, 4]).members,
    );
  });

  it.each([4, MEMBER])('is refused for who is one, in the role %i too', (roleId) => {
    const refusal = refusalOf(() => addMember(withMembers([1, MEMBER]), { userId: 1, roleId }));
    expect(refusal).toMatchObject({
      code: 'member_exists',
      message: 'User already has access to project=shop',
    });
  });

  it('needs no owner to be there', () => {
    expect(addMember(projectState(), { userId: 1, roleId: MEMBER })).toHaveLength(1);
  });
});

describe('changing the role of a member', () => {
  it('is one event with the role before', () => {
    const project = withMembers([1, 4], [2, MEMBER]);
    const events = changeMemberRole(project, { userId: 2, roleId: 4 }, OWNER);
    expect(events).toEqual([
      { type: 'member-role-changed', data: { userId: 2, roleId: 4 }, before: { userId: 2, roleId: MEMBER } },
    ]);
    expect(after(project, events)).toEqual(withMembers([1, 4], [2, 4]));
  });

  it('has no effect for users who are not members, or already have the role', () => {
    const project = withMembers([1, 4]);
    expect(changeMemberRole(project, { userId: 2, roleId: 4 }, OWNER)).toEqual([]);
    expect(changeMemberRole(project, { userId: 1, roleId: 4 }, OWNER)).toEqual([]);
  });

  it('is refused for the only owner, not for one of two', () => {
    const change = { userId: 1, roleId: MEMBER };
    expect(refusalOf(() => changeMemberRole(withMembers([1, 4], [2, MEMBER]), change, OWNER))).toMatchObject({
      code: 'last_owner',
      message: 'A project must have at least one owner.',
    });
    expect(changeMemberRole(withMembers([1, 4], [2, 4]), change, OWNER)).toHaveLength(1);
  });
});

describe('removing a member', () => {
  it('is one event, and leaves the others', () => {
    const project = withMembers([1, 4], [2, MEMBER]);
    const events = removeMember(project, { userId: 2, roleId: MEMBER }, OWNER);
    expect(events).toEqual([{ type: 'member-removed', data: null, before: { userId: 2, roleId: MEMBER } }]);
    expect(after(project, events)).toEqual(withMembers([1, 4]));
  });

  it('is refused for another role than the current one, and for users who are not members', () => {
    const project = withMembers([1, 4], [2, MEMBER]);
    for (const member of [
      { userId: 2, roleId: 4 },
      { userId: 1, roleId: MEMBER },
      { userId: 3, roleId: MEMBER },
    ]) {
      expect(refusalOf(() => removeMember(project, member, OWNER)).code).toBe('member_not_found');
    }
  });

  it('is refused for the only owner, but not for one of two, nor for the last member with another role', () => {
    const owner = { userId: 1, roleId: 4 };
    expect(refusalOf(() => removeMember(withMembers([1, 4]), owner, OWNER)).code).toBe('last_owner');
    expect(removeMember(withMembers([1, 4], [2, 4]), owner, OWNER)).toHaveLength(1);
    expect(removeMember(withMembers([2, MEMBER]), { userId: 2, roleId: MEMBER }, OWNER)).toHaveLength(1);
  });

  it('goes by the configured id of the role, whatever it is', () => {
    const owner = { id: MEMBER, name: 'owner' };
    expect(refusalOf(() => removeMember(withMembers([1, MEMBER]), { userId: 1, roleId: MEMBER }, owner)).code).toBe(
      'last_owner',
    );
    expect(removeMember(withMembers([1, 4]), { userId: 1, roleId: 4 }, owner)).toHaveLength(1);
  });
});
