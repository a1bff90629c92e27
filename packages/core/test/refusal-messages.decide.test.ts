import { addDependency, removeDependency } from '../src/features/flags/dependencies.decide.js';
import { createFlag, deleteFlag, moveFlag } from '../src/features/flags/flag.decide.js';
import { assertNotArchived } from '../src/features/flags/flag.js';
import { enable, findStrategy } from '../src/features/flags/strategies.decide.js';
import { addMember, changeMemberRole, removeMember } from '../src/features/projects/members.decide.js';
import { createProject, deleteProject } from '../src/features/projects/project.decide.js';
import { DEFAULT_PROJECT } from '../src/features/projects/project.js';
import { registerSegment } from '../src/features/segments/segment.decide.js';
import { NO_SEGMENTS } from '../src/features/segments/segment.js';
import { createToken } from '../src/features/tokens/token.decide.js';
import { refusalOf } from './decision.js';
import { flagState } from './flags/flag-states.js';

const flag = flagState();
const parent = flagState({ name: 'payments' });
const ON = { flag: 'payments', enabled: true, variants: [] };
const BIRTH = { project: 'shop', createdAt: '2026-01-01T00:00:00.000Z' };
const owner = { id: 4, name: 'owner' };
const project = { id: 'shop', name: 'Shop', description: '', createdAt: BIRTH.createdAt, members: [] };
const owned = { ...project, members: [{ userId: 7, roleId: owner.id }] };
const token = { id: 'id', name: 'web', kind: 'admin', project: '*', environment: '*', expiresAt: null } as const;
const secret = { ...token, projects: ['*'], createdAt: BIRTH.createdAt, hash: 'hash' };
const registry = registerSegment(NO_SEGMENTS, { id: 1, name: 'beta' });
const dependOn = (dependency: typeof ON, relatives: object) => () =>
  addDependency(flag, dependency, { parent, children: [], ...relatives });
const create = (existing: typeof flag) => () => createFlag(existing, { name: 'checkout', type: 'release' }, BIRTH);

const REFUSALS: readonly (readonly [what: string, decision: () => unknown, message: string])[] = [
  [
    'ending a dependency that is not there',
    () => removeDependency(flag, 'payments'),
    'The flag checkout does not depend on payments; read the flag for its dependencies.',
  ],
  [
    'depending on itself',
    dependOn({ ...ON, flag: 'checkout' }, {}),
    'The flag checkout cannot depend on itself; name another flag.',
  ],
  [
    'depending on a missing flag',
    dependOn(ON, { parent: undefined }),
    'There is no flag payments in the project shop, or it is archived; name another.',
  ],
  [
    'depending on a child',
    dependOn(ON, { parent: { ...parent, dependencies: [{ ...ON, flag: 'search' }] } }),
    'The flag payments has dependencies itself; name a flag without dependencies.',
  ],
  [
    'depending on another as a parent',
    dependOn(ON, { children: ['basket', 'search'] }),
    'The flag checkout cannot depend on another flag while basket, search depend on it.',
  ],
  ['creating a flag twice', create(flag), 'The flag name checkout is taken; choose another.'],
  [
    'creating a flag whose name is in the archive',
    create(flagState({ archived: true })),
    'The flag name checkout is taken; choose another.',
  ],
  ['deleting a live flag', () => deleteFlag(flag), 'Archive the flag checkout before deleting it.'],
  [
    'changing an archived flag',
    () => assertNotArchived(flagState({ archived: true })),
    'The flag checkout is archived; revive it before changing or copying it.',
  ],
  [
    'switching on without strategies',
    () => enable(flag, 'production'),
    'Add a strategy to production before enabling checkout there.',
  ],
  [
    'seeking a strategy that is not there',
    () => findStrategy(flag, { environment: 'production', strategy: 's-1' }),
    'The flag checkout has no strategy s-1 in production; read the flag for its strategies.',
  ],
  [
    'adding a member twice',
    () => addMember(owned, { userId: 7, roleId: 5 }),
    'User already has access to project=shop',
  ],
  [
    'taking a role that is not held',
    () => removeMember(owned, { userId: 7, roleId: 5 }, owner),
    'The user 7 does not have the role 5 in the project shop.',
  ],
  [
    'giving the only owner another role',
    () => changeMemberRole(owned, { userId: 7, roleId: 5 }, owner),
    'A project must have at least one owner.',
  ],
  [
    'creating a project twice',
    () => createProject(project, { id: 'shop', name: 'Shop' }, BIRTH.createdAt),
    'The project id shop is taken; choose another.',
  ],
  [
    'deleting the default project',
    () => deleteProject({ ...project, id: DEFAULT_PROJECT }, 0),
    'The project default cannot be deleted.',
  ],
  [
    'deleting a project with a flag',
    () => deleteProject(project, 1),
    'The project shop has a flag that is not archived; archive every flag first.',
  ],
  [
    'deleting a project with flags',
    () => deleteProject(project, 2),
    'The project shop has 2 flags that are not archived; archive every flag first.',
  ],
  [
    'naming two segments alike',
    () => registerSegment(registry, { id: 2, name: 'beta' }),
    'The segment name beta is taken; choose another.',
  ],
  [
    'creating a token twice',
    () => createToken({ existing: secret, wasDeleted: false, others: [] }, secret),
    'A token with this secret exists; choose another secret.',
  ],
  [
    'naming two tokens of a kind alike',
    () => createToken({ existing: undefined, wasDeleted: false, others: [secret] }, secret),
    'A token of kind admin named web exists; choose another name.',
  ],
  [
    'giving the secret of a deleted token',
    () => createToken({ existing: undefined, wasDeleted: true, others: [] }, secret),
    'The token with this secret was deleted; choose another secret.',
  ],
  [
    'deleting a project that a token for several projects names',
    () => deleteProject(project, 0, 1),
    'The project shop shares an API token with other projects; delete the tokens first.',
  ],
  [
    'deleting a project that several tokens name beside others',
    () => deleteProject(project, 0, 2),
    'The project shop shares 2 API tokens with other projects; delete the tokens first.',
  ],
  [
    'moving a child',
    () => moveFlag(flagState({ dependencies: [ON, { ...ON, flag: 'search' }] }), 'app', []),
    'The flag checkout depends on payments, search in the project shop; remove these dependencies before you move it.',
  ],
  [
    'moving a parent',
    () => moveFlag(flag, 'app', ['basket', 'search']),
    'basket, search depend on the flag checkout; remove their dependencies before you move it.',
  ],
];

describe('a refusal', () => {
  it.each(REFUSALS)('names its subject and a remedy: %s', (_, decision, message) => {
    expect(refusalOf(decision).message).toBe(message);
  });
});
