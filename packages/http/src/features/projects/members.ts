import type { ErrorDetail, Member } from '@flags/core';
import type { JsonSchema } from '@flags/core/integration/shared';
import type { Role } from '@flags/core/types';
import { USER_ROLE, USERS } from '../../api/paths.js';
import { positiveIntegerIn } from '../../api/query.js';
import { route } from '../../api/route.js';
import type { ShownUser, UserId } from '../../auth/users.js';
import { invalidInput } from '../../messages/errors.js';
import { jsonArray } from '../../messages/json.js';
import { example, listOf, objectComponent, positiveInteger, text } from '../../messages/schema.js';

export const roleSchema = objectComponent('Role', { id: example(4, positiveInteger), name: example('owner') });

const memberSchema = objectComponent(
  'Member',
  { id: example(7, positiveInteger), roleId: positiveInteger },
  {
    name: {
      ...example('Ada'),
      description: 'The name of the user, if `describeUsers` knows the user.',
    },
    image: { ...text, description: 'The URL of a picture of the user.' },
  },
);

/** The body repeats the ids of the path. */
const memberBodySchema: JsonSchema = {
  type: 'object',
  properties: { userId: { type: 'integer' }, projectId: { type: 'string' }, roleId: { type: 'integer' } },
};

/** Returns the member in the path. Throws when the body contradicts the path. */
function memberFromWire(params: Readonly<Record<'projectId' | 'userId' | 'roleId', string>>, body: unknown): Member {
  const member = { userId: positiveIntegerIn(params.userId), roleId: positiveIntegerIn(params.roleId) };
  const { userId, roleId } = member;
  const faults = [
    ...(userId === undefined ? [{ message: 'must be a positive integer', path: '/userId' }] : []),
    ...(roleId === undefined ? [{ message: 'must be a positive integer', path: '/roleId' }] : []),
    ...contradictions({ userId, projectId: params.projectId, roleId }, body),
  ];
  if (userId === undefined || roleId === undefined || faults.length > 0) throw invalidInput(faults);
  return { userId, roleId };
}

type Users = ReadonlyMap<UserId, ShownUser>;

function memberListToWire(roles: readonly Role[], members: readonly Member[], users: Users | undefined) {
  return {
    roles: roles.map(({ id, name }) => ({ id, name })),
    users: jsonArray(members, ({ userId, roleId }) => ({ id: userId, roleId, ...users?.get(userId) })),
  };
}

function contradictions(path: Readonly<Record<string, unknown>>, body: unknown): readonly ErrorDetail[] {
  const given = (body ?? {}) as Readonly<Record<string, unknown>>;
  return Object.entries(path)
    .filter(([name, value]) => value !== undefined && given[name] !== undefined && given[name] !== value)
    .map(([name]) => ({ message: 'contradicts the path', path: `/${name}` }));
}

export const memberRoutes = [
  route('GET', USERS, 'listMembers', {
    summary: 'List the members of a project with their roles, and all roles of the instance',
    reply: objectComponent('MemberList', { roles: listOf(roleSchema), users: listOf(memberSchema) }),
    async handle({ flags, ref, describeUsers }) {
      const { items: members } = await flags.listMembers(ref);
      const users = await describeUsers?.(members.map(({ userId }) => userId));
      return { body: memberListToWire(flags.settings.roles, members, users) };
    },
  }),
  route('POST', USER_ROLE, 'addMember', {
    summary: 'Add a user to a project in a role',
    body: { schema: memberBodySchema, required: false },
    errors: ['user_not_found', 'member_exists'],
    changes: 'project',
    form: { errors: 'messages' },
    handle: ({ flags, ref, params, body, context }) => flags.addMember(ref, memberFromWire(params, body), context),
  }),
  route('PUT', USER_ROLE, 'changeMemberRole', {
    summary: 'Change the role of a member',
    body: { schema: memberBodySchema, required: false },
    errors: ['last_owner'],
    changes: 'project',
    form: { errors: 'messages' },
    handle: ({ flags, ref, params, body, context }) =>
      flags.changeMemberRole(ref, memberFromWire(params, body), context),
  }),
  route('DELETE', USER_ROLE, 'removeMember', {
    summary: 'Remove a user from a project; the user must have the role in the path',
    errors: ['member_not_found', 'last_owner'],
    changes: 'project',
    form: { errors: 'messages' },
    handle: ({ flags, ref, params, context }) => flags.removeMember(ref, memberFromWire(params, undefined), context),
  }),
];
