import type { Flags } from '@flags/core';
import type { Row } from '../row.js';
import { inOrder } from '../row.js';
import { DEFAULT, owned, PROJECT, PROJECTS, staffed } from '../states.js';

const USERS = `${PROJECT}/users`;
const LAST_OWNER = [{ msg: 'A project must have at least one owner.' }];

async function expectMembers(flags: Flags, ...members: readonly (readonly [number, number])[]): Promise<void> {
  const expected = members.map(([userId, roleId]) => ({ userId, roleId }));
  expect((await flags.listMembers(DEFAULT)).items).toEqual(expected);
}

const ownRows: readonly Row[] = [
  {
    endpoint: 17,
    name: 'adds a user',
    given: owned,
    request: { method: 'POST', path: `${USERS}/2/roles/5`, body: { userId: 2, projectId: 'default', roleId: 5 } },
    expect: { status: 200, body: null, afterwards: (flags) => expectMembers(flags, [1, 4], [2, 5]) },
  },
  {
    endpoint: 17,
    name: 'needs no body',
    request: { method: 'POST', path: `${USERS}/2/roles/5` },
    expect: { status: 200, body: null, afterwards: (flags) => expectMembers(flags, [2, 5]) },
  },
  ...[4, 5].map(
    (role): Row => ({
      endpoint: 17,
      name: `refuses a member, as role ${role}`,
      given: owned,
      request: { method: 'POST', path: `${USERS}/1/roles/${role}` },
      expect: { status: 400, code: 'member_exists', body: [{ msg: 'User already has access to project=default' }] },
    }),
  ),
  {
    endpoint: 17,
    name: 'does not find a user whom the host does not know',
    request: { method: 'POST', path: `${USERS}/404/roles/5` },
    expect: { status: 404, code: 'user_not_found' },
  },
  {
    endpoint: 18,
    name: 'changes a role',
    given: staffed,
    request: { method: 'PUT', path: `${USERS}/2/roles/4`, body: { userId: 2, projectId: 'default', roleId: 4 } },
    expect: { status: 200, body: null, afterwards: (flags) => expectMembers(flags, [1, 4], [2, 4]) },
  },
  {
    endpoint: 18,
    name: 'does nothing for a user who is not a member',
    given: owned,
    request: { method: 'PUT', path: `${USERS}/2/roles/4` },
    expect: { status: 200, body: null, unchanged: true },
  },
  {
    endpoint: 18,
    name: 'does nothing for the current role',
    given: owned,
    request: { method: 'PUT', path: `${USERS}/1/roles/4` },
    expect: { status: 200, body: null, unchanged: true },
  },
  {
    endpoint: 18,
    name: 'keeps the only owner an owner',
    given: staffed,
    request: { method: 'PUT', path: `${USERS}/1/roles/5` },
    expect: { status: 400, code: 'last_owner', body: LAST_OWNER },
  },
  {
    endpoint: 19,
    name: 'removes a member',
    given: staffed,
    request: { method: 'DELETE', path: `${USERS}/2/roles/5` },
    expect: { status: 200, body: null, afterwards: (flags) => expectMembers(flags, [1, 4]) },
  },
  {
    endpoint: 19,
    name: 'removes an owner beside another',
    given: inOrder(owned, (flags) => flags.addMember(DEFAULT, { userId: 2, roleId: 4 })),
    request: { method: 'DELETE', path: `${USERS}/1/roles/4` },
    expect: { status: 200, body: null, afterwards: (flags) => expectMembers(flags, [2, 4]) },
  },
  {
    endpoint: 19,
    name: 'keeps the only owner',
    given: staffed,
    request: { method: 'DELETE', path: `${USERS}/1/roles/4` },
    expect: { status: 400, code: 'last_owner', body: LAST_OWNER },
  },
  {
    endpoint: 19,
    name: 'does not find a member with another role',
    given: staffed,
    request: { method: 'DELETE', path: `${USERS}/2/roles/4` },
    expect: { status: 404, code: 'member_not_found' },
  },
  {
    endpoint: 19,
    name: 'does not find a user who is not a member',
    given: staffed,
    request: { method: 'DELETE', path: `${USERS}/3/roles/5` },
    expect: { status: 404, code: 'member_not_found' },
  },
];

const OPERATIONS = [
  [17, 'POST'],
  [18, 'PUT'],
  [19, 'DELETE'],
] as const;

const placeRows: readonly Row[] = OPERATIONS.flatMap(([endpoint, method]): Row[] => [
  {
    endpoint,
    name: 'does not find an unknown role',
    given: staffed,
    request: { method, path: `${USERS}/2/roles/99` },
    expect: { status: 404, code: 'role_not_found' },
  },
  {
    endpoint,
    name: 'does not find an unknown project',
    given: staffed,
    request: { method, path: `${PROJECTS}/unknown/users/2/roles/5` },
    expect: { status: 404, code: 'project_not_found' },
  },
  ...['0', '-1', '1.5', 'two', '01', '1e1', '9007199254740993'].flatMap((id): Row[] =>
    [`${id}/roles/5`, `2/roles/${id}`].map((place) => ({
      endpoint,
      name: `refuses ${place}, which is no user and role`,
      given: staffed,
      request: { method, path: `${USERS}/${place}` },
      expect: { status: 400, code: 'invalid_input', body: [{ msg: expect.any(String) }] },
    })),
  ),
]);

const bodyRows: readonly Row[] = OPERATIONS.slice(0, 2).flatMap(([endpoint, method]): Row[] =>
  [{ userId: 3 }, { projectId: 'shop' }, { roleId: 4 }, { userId: '2' }, []].map((body) => ({
    endpoint,
    name: `refuses the body ${JSON.stringify(body)}, which contradicts the path`,
    given: owned,
    request: { method, path: `${USERS}/2/roles/5`, body },
    expect: { status: 400, code: 'invalid_input', body: [{ msg: expect.any(String) }] },
  })),
);

const listRows: readonly Row[] = [
  {
    endpoint: 'listMembers',
    name: 'lists the roles, and the members by user id',
    given: staffed,
    request: { method: 'GET', path: USERS },
    expect: {
      status: 200,
      unchanged: true,
      body: {
        roles: [
          { id: 4, name: 'owner' },
          { id: 5, name: 'member' },
        ],
        users: [
          { id: 1, roleId: 4 },
          { id: 2, roleId: 5 },
        ],
      },
    },
  },
  {
    endpoint: 'listMembers',
    name: 'does not find an unknown project',
    request: { method: 'GET', path: `${PROJECTS}/unknown/users` },
    expect: { status: 404, code: 'project_not_found' },
  },
];

export const memberRows: readonly Row[] = [...ownRows, ...placeRows, ...bodyRows, ...listRows];
