import { type Route, route } from '../route.js';
import { memberBodySchema, memberFromWire, memberListToWire } from '../wire/member.js';
import { USER_ROLE, USERS } from './paths.js';
import { projectRef } from './refs.js';

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
    handle: async ({ flags, params }) => ({
      chunks: memberListToWire(flags.settings.roles, await flags.listMembers(projectRef(params))),
    }),
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
