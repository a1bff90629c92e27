import type { ErrorDetail, Member, Role } from '@flags/core';
import type { JsonSchema } from '@flags/core/integration';
import { versionTag } from '../caching.js';
import { invalidInput } from '../errors.js';
import { jsonArray, jsonObject } from '../json-chunks.js';
import { type Route, route } from '../route.js';
import type { ShownUser, UserId } from '../users.js';
import { positiveInteger, projectRef, USER_ROLE, USERS } from './paths.js';

export interface MemberParams {
  readonly projectId: string;
  readonly userId: string;
  readonly roleId: string;
}

/** The body repeats the ids of the path. */
const memberBodySchema: JsonSchema = {
  type: 'object',
  properties: { userId: { type: 'integer' }, projectId: { type: 'string' }, roleId: { type: 'integer' } },
};

/** Returns the member in the path. Throws when the body contradicts the path. */
function memberFromWire(params: MemberParams, body: unknown): Member {
  const member = { userId: positiveInteger(params.userId), roleId: positiveInteger(params.roleId) };
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
  return jsonObject({
    roles: roles.map(({ id, name }) => ({ id, name })),
    users: jsonArray(members, ({ userId, roleId }) => ({ id: userId, roleId, ...users?.get(userId) })),
  });
}

/** Returns the tag of a list with names, which change without a change of the project. */
function namedListTag(members: readonly Member[], users: Users): string {
  return versionTag(members.map(({ userId, roleId }) => JSON.stringify([userId, roleId, users.get(userId)])));
}

function contradictions(path: Readonly<Record<string, unknown>>, body: unknown): readonly ErrorDetail[] {
  const given = (body ?? {}) as Readonly<Record<string, unknown>>;
  return Object.entries(path)
    .filter(([name, value]) => value !== undefined && given[name] !== undefined && given[name] !== value)
    .map(([name]) => ({ message: 'contradicts the path', path: `/${name}` }));
}

export const memberRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: USERS,
    action: 'listMembers',
    summary: 'The roles of the instance, and who has which in a project',
    tag: 'Members',
    access: 'admin',
    streamed: 'flags',
    reply: { status: 200, schema: 'MemberList' },
    errors: ['project_not_found'],
    async handle({ flags, params, describeUsers }) {
      const members = await flags.listMembers(projectRef(params));
      const users = await describeUsers?.(members.map(({ userId }) => userId));
      const chunks = memberListToWire(flags.settings.roles, members, users);
      return users ? { chunks, etag: namedListTag(members, users) } : { chunks };
    },
  }),
  route({
    method: 'POST',
    path: USER_ROLE,
    action: 'addMember',
    summary: 'Add a user to a project with a role',
    tag: 'Members',
    access: 'admin',
    body: { required: false, schema: () => memberBodySchema, checkedBy: 'router' },
    reply: { status: 200 },
    errors: [
      'invalid_input',
      'project_not_found',
      'role_not_found',
      'user_not_found',
      'member_exists',
      'revision_mismatch',
    ],
    ifMatch: 'project',
    badRequest: 'messages',
    async handle({ flags, params, body, context }) {
      await flags.addMember(projectRef(params), memberFromWire(params, body), context);
      return {};
    },
  }),
  route({
    method: 'PUT',
    path: USER_ROLE,
    action: 'changeMemberRole',
    summary: 'Give a member another role',
    tag: 'Members',
    access: 'admin',
    body: { required: false, schema: () => memberBodySchema, checkedBy: 'router' },
    reply: { status: 200 },
    errors: ['invalid_input', 'project_not_found', 'role_not_found', 'last_owner', 'revision_mismatch'],
    ifMatch: 'project',
    badRequest: 'messages',
    async handle({ flags, params, body, context }) {
      await flags.changeMemberRole(projectRef(params), memberFromWire(params, body), context);
      return {};
    },
  }),
  route({
    method: 'DELETE',
    path: USER_ROLE,
    action: 'removeMember',
    summary: 'Remove a user, who must hold that role, from a project',
    tag: 'Members',
    access: 'admin',
    reply: { status: 200 },
    errors: [
      'invalid_input',
      'project_not_found',
      'role_not_found',
      'member_not_found',
      'last_owner',
      'revision_mismatch',
    ],
    ifMatch: 'project',
    badRequest: 'messages',
    async handle({ flags, params, context }) {
      await flags.removeMember(projectRef(params), memberFromWire(params, undefined), context);
      return {};
    },
  }),
];
