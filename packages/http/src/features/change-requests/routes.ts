import type { ChangeRequest, ErrorCode, Flags, ListedChangeRequest } from '@flags/core';
import { changeRequestNotFound, listReadableChangeRequests, REQUEST_STATES } from '@flags/core/integration/http';
import type { ApprovalPolicy, ChangeRequestApproval, ChangeRequestOptions, ChangeRequestTime } from '@flags/core/types';
import { type Action, permissionOf, writtenBy } from '../../actions.js';
import { APPROVAL_POLICY, CHANGE_REQUEST, CHANGE_REQUESTS } from '../../api/paths.js';
import { LONG_READ } from '../../api/query.js';
import { readableListRoute } from '../../api/readable-list.js';
import { type Route, type RouteRequest, route, withRevision } from '../../api/route.js';
import { isPermitted } from '../../auth/permissions.js';
import { checkChanges, createChangePermissions } from '../../changes/change-permissions.js';
import { hasMembers, maySeeAll } from '../../events/event-filter.js';
import { unchecked } from '../../messages/request.js';
import {
  CHANGE_ERRORS,
  changesIn,
  FEW_CHANGES,
  hasAtMost,
  idOf,
  UNDO_ERRORS,
  withoutUndefined,
} from '../environments/changes.js';
import {
  listedRequestSchema,
  listedRequestToWire,
  newRequestSchema,
  policySchema,
  requestSchema,
  requestToWire,
} from './wire.js';

type Caller = Pick<RouteRequest, 'flags' | 'principal'>;

/** Returns the projects that a request had when it was made, and the projects that its flags are in now. */
function projectsOf(flags: Flags, request: Pick<ListedChangeRequest, 'projects' | 'flags'>) {
  const present = request.flags.map(({ flag }) => flags.projectOf({ flag }));
  return new Set([...request.projects, ...present.filter((project) => project !== undefined)]);
}

/**
 * Returns a request, if the caller may perform the action in all its projects. A request that the caller may not read does
 * not exist for that caller.
 */
async function findReadable(
  { flags, principal }: Caller,
  id: string,
  action: Action = 'getChangeRequest',
): Promise<ChangeRequest> {
  const found = await flags.changeRequests.get({ changeRequest: id });
  const projects = projectsOf(flags, found);
  if (!(await maySeeAll(projects, (project) => isPermitted(principal, 'getChangeRequest', project)))) {
    throw changeRequestNotFound(id);
  }
  if (found.changes.some(isAboutMembers)) {
    const maySee = await maySeeAll(projects, (project) => isPermitted(principal, 'listEvents', project));
    if (!maySee) throw changeRequestNotFound(id);
  }
  for (const project of projects) await principal.check(action, project);
  return found;
}

/**
 * Whether a change adds, changes or removes members. Such a request is shown only to callers who may read the event
 * log, like its change set.
 */
function isAboutMembers({ op, ...change }: ChangeRequest['changes'][number]): boolean {
  return writtenBy(op) === 'members' || ('input' in change && hasMembers(change.input));
}

/** The refusals of the changes of a request. */
const REFUSALS: readonly ErrorCode[] = [...CHANGE_ERRORS, ...UNDO_ERRORS, 'undo_conflict'];

/**
 * Refusals that a later application can have. A request with the deletion of the default project or with a cycle is
 * refused when it is made.
 */
const LATER_REFUSALS = REFUSALS.filter((code) => code !== 'project_protected' && code !== 'dependency_cycle');

interface Decision {
  readonly path: 'approve' | 'reject' | 'withdraw' | 'apply';
  readonly row: Pick<Route, 'summary' | 'body' | 'errors' | 'long'>;
  readonly decide: (
    { changeRequests }: Flags,
    ref: { readonly changeRequest: string },
    given: Pick<RouteRequest, 'body' | 'context'>,
  ) => Promise<ChangeRequest>;
}

const DECISIONS: readonly Decision[] = [
  {
    path: 'approve',
    row: {
      summary: 'Approve the effect that a request had when the caller read it, as somebody else than its author',
      body: { schema: ({ changeRequestApproval }) => changeRequestApproval, required: true, checkedBy: 'core' },
      errors: ['own_change_request', 'effect_changed', ...LATER_REFUSALS],
      long: { kind: 'change' },
    },
    decide: ({ changeRequests }, ref, { body, context }) =>
      changeRequests.approve(ref, unchecked<ChangeRequestApproval>(body), context),
  },
  {
    path: 'reject',
    row: { summary: 'End a request of somebody else, also one with a time', errors: ['own_change_request'] },
    decide: ({ changeRequests }, ref, { context }) => changeRequests.reject(ref, context),
  },
  {
    path: 'withdraw',
    row: { summary: 'Take a request back, also one with a time' },
    decide: ({ changeRequests }, ref, { context }) => changeRequests.withdraw(ref, context),
  },
  {
    path: 'apply',
    row: {
      summary: 'Apply a request as one change set: now, or by itself at a time, which replaces an earlier one',
      body: { schema: ({ changeRequestTime }) => changeRequestTime, required: false, checkedBy: 'core' },
      errors: ['approval_required', ...LATER_REFUSALS],
      long: { kind: 'change' },
    },
    decide: ({ changeRequests }, ref, { body, context }) =>
      changeRequests.apply(ref, unchecked<ChangeRequestTime>(body ?? {}), context),
  },
];

function decisionRoute({ path, row, decide }: Decision): Route<`${Decision['path']}ChangeRequest`> {
  const name = `${path}ChangeRequest` as const;
  const permission = permissionOf(name);
  return route('POST', `${CHANGE_REQUEST}/${path}`, name, {
    ...row,
    permissionIn: 'anyProject',
    reply: requestSchema,
    errors: [...(row.errors ?? []), 'change_request_not_open'],
    changes: 'changeRequest',
    async handle({ params, ...request }: RouteRequest<'changeRequestId'>) {
      const { id: changeRequest, changes } = await findReadable(request, params.changeRequestId, permission);
      const permissions = createChangePermissions(request, { action: permission });
      if (path === 'apply') await checkChanges(permissions, changes);
      return withRevision(await decide(permissions.flags, { changeRequest }, request), requestToWire);
    },
  });
}

/** Changes that wait for a time, for approval, or for both. */
export const changeRequestRoutes = [
  readableListRoute({
    path: CHANGE_REQUESTS,
    action: 'listChangeRequests',
    summary: 'List the change requests that the caller may read by id, without their changes and effects',
    component: 'ChangeRequestList',
    member: 'changeRequests',
    noun: 'requests',
    states: REQUEST_STATES,
    item: listedRequestSchema,
    list: listReadableChangeRequests,
    canRead: (flags, request: ListedChangeRequest, maySee) => maySeeAll(projectsOf(flags, request), maySee),
    toWire: listedRequestToWire,
  }),
  route('POST', CHANGE_REQUESTS, 'createChangeRequest', {
    permissionIn: 'handler',
    summary: 'Request changes, which are applied once: by a person, or by themselves at a time, when they are approved',
    status: 201,
    body: { schema: newRequestSchema, checkedBy: 'core' },
    reply: requestSchema,
    errors: [...REFUSALS, 'change_set_not_found', 'change_request_not_found', 'change_request_not_open'],
    long: { kind: 'change', isShort: ({ body }) => hasAtMost(FEW_CHANGES, body) },
    changes: 'changeRequest',
    async handle({ body, ...request }) {
      const permissions = createChangePermissions(request, { action: 'createChangeRequest', read: 'getFlag' });
      // Does not use rest syntax: a body may have a million members.
      const sent = unchecked<ChangeRequestOptions>(Object(body));
      const { at, notAfter, ifUnchanged, expiresAt, replaces, reason = request.context.reason } = sent;
      const isDryRun = at === undefined;
      const changes = await checkChanges({ ...permissions, isDryRun }, changesIn(body));
      if (typeof replaces === 'string') await findReadable(request, replaces, 'withdrawChangeRequest');
      const id = idOf(sent.id, request.context.id);
      const options = withoutUndefined({ at, notAfter, ifUnchanged, expiresAt, replaces, reason, id });
      const created = await permissions.flags.changeRequests.create(changes, options);
      // With a repeated id, the engine returns the earlier request. Its flags may be in other projects now, so the
      // permissions are checked again.
      for (const project of projectsOf(request.flags, created))
        await permissions.checkOnce('createChangeRequest', project);
      return withRevision(created, requestToWire);
    },
  }),
  route('GET', CHANGE_REQUEST, 'getChangeRequest', {
    permissionIn: 'anyProject',
    summary: 'Get a change request with its changes, its present state, and what it would do now',
    reply: requestSchema,
    long: LONG_READ,
    handle: async ({ params, ...request }) =>
      withRevision(await findReadable(request, params.changeRequestId), requestToWire),
  }),
  ...DECISIONS.map(decisionRoute),
];

/** Which environments need approval. */
export const policyRoutes = [
  route('GET', APPROVAL_POLICY, 'getApprovalPolicy', {
    permissionIn: 'anyProject',
    summary: 'Get the environments whose changes need approval',
    reply: policySchema,
    handle: async ({ flags }) => ({ body: await flags.approvalPolicy.get() }),
  }),
  route('PUT', APPROVAL_POLICY, 'changeApprovalPolicy', {
    summary: 'Replace the environments whose changes need approval',
    body: 'approvalPolicy',
    reply: policySchema,
    errors: ['approval_required'],
    handle: async ({ flags, body, context }) => ({
      body: await flags.approvalPolicy.set(unchecked<ApprovalPolicy>(body), context),
    }),
  }),
];
