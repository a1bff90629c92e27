import type { ChangeSet, HistoryEntry, HistoryRef, ListPage, PageQuery } from '@flags/core';
import { projectsOf } from '@flags/core/integration/http';
import { CHANGES, FLAG, PROJECT } from '../../api/paths.js';
import { LONG_READ } from '../../api/query.js';
import { PAGE } from '../../api/readable-list.js';
import { type Route, type RouteRequest, type RouteResult, route } from '../../api/route.js';
import { createProjectFilter } from '../../auth/permissions.js';
import { describeActors } from '../../auth/users.js';
import { checkUndo, createChangePermissions } from '../../changes/change-permissions.js';
import { eventFilterFor, isAboutAccess, maySeeAll, projectsOfSetIn, subjectsOf } from '../../events/event-filter.js';
import { jsonArray, jsonTexts } from '../../messages/json.js';
import { unchecked } from '../../messages/request.js';
import { replyToSet, UNDO_ERRORS, visiblePlan, visiblePreview, withoutUndefined } from '../environments/changes.js';
import {
  BODIES,
  changeSetSchema,
  changeSetToWire,
  describedChangeSetSchema,
  historyEntryToWire,
  historySchema,
  planSchema,
  previewSchema,
  type WirePreview,
} from '../environments/changes-wire.js';
import { contextFromWire } from '../environments/wire.js';
import { differenceToWire } from '../flags/rollout-states.js';

const CHANGE = `${CHANGES}/:id`;

/** The routes of a change set that is committed. */
export const changeSetRoutes = [
  route('GET', CHANGE, 'getChange', {
    permissionIn: 'anyProject',
    summary: 'Get a change set with its events and differences',
    long: LONG_READ,
    reply: describedChangeSetSchema,
    async handle({ flags, params, principal, describeUsers }) {
      const changeSet = await flags.history.get({ changeSet: params.id });
      for (const project of projectsOf(changeSet.events)) await principal.check('getChange', project);
      for (const project of projectsOf(changeSet.events.filter(isAboutAccess)))
        await principal.check('listEvents', project);
      const first = changeSet.events.slice(0, 1);
      const userOf = await describeActors(describeUsers, first);
      const { differences } = changeSet;
      return {
        body: {
          ...changeSetToWire(changeSet, userOf(first[0])),
          differences: jsonArray(differences, differenceToWire),
        },
      };
    },
  }),
  route('POST', `${CHANGE}/undo`, 'undoChange', {
    permissionIn: 'anyProject',
    summary: 'Undo a change set in one commit, and keep later changes of other parts',
    body: { schema: BODIES.undo, required: false },
    reply: changeSetSchema,
    errors: ['invalid_input', 'change_set_not_found', 'undo_conflict', ...UNDO_ERRORS],
    long: { kind: 'change' },
    changes: 'flag',
    async handle({ params, body, ...request }) {
      const permissions = createChangePermissions(request, { action: 'undoChange' });
      const { reason = request.context.reason } = unchecked<{ readonly reason?: string } | undefined>(body) ?? {};
      const { id, bypassApproval } = request.context;
      const authorize = (set: ChangeSet) => checkUndo(permissions, set);
      return replyToSet(
        await permissions.flags.history.undo(
          { changeSet: params.id },
          { ...withoutUndefined({ id, reason, bypassApproval }), authorize },
        ),
      );
    },
  }),
  route('POST', `${CHANGE}/undo/plan`, 'planUndo', {
    permissionIn: 'anyProject',
    summary: 'Plan an undo: return the documents before and after, and the events, without a commit',
    reply: planSchema,
    errors: ['change_set_not_found', 'undo_conflict', 'change_set_too_large', ...UNDO_ERRORS],
    long: { kind: 'plan' },
    async handle({ params, ...request }) {
      const permissions = createChangePermissions(request, { action: 'previewChanges', isDryRun: true });
      const authorize = (set: ChangeSet) => checkUndo(permissions, set);
      return visiblePlan(
        await permissions.flags.history.planUndo({ changeSet: params.id }, { authorize }),
        request.principal,
      );
    },
  }),
  route('POST', `${CHANGE}/undo/preview`, 'previewUndo', {
    permissionIn: 'anyProject',
    summary: 'Preview an undo: evaluate up to 1,000 contexts before and after it, without a commit',
    body: { schema: BODIES.previewUndo },
    reply: previewSchema,
    errors: [
      'invalid_input',
      'environment_not_found',
      'change_set_not_found',
      'undo_conflict',
      'change_set_too_large',
      ...UNDO_ERRORS,
    ],
    long: { kind: 'plan' },
    async handle({ params, body, ...request }) {
      const permissions = createChangePermissions(request, { action: 'previewChanges', isDryRun: true });
      const { environment, contexts } = unchecked<WirePreview>(body);
      const query = {
        environment,
        contexts: contexts.map((context) => contextFromWire(context)),
        signal: request.sent.signal,
        authorize: (set: ChangeSet) => checkUndo(permissions, set),
      };
      return visiblePreview(
        await permissions.flags.history.previewUndo({ changeSet: params.id }, query),
        request.principal,
      );
    },
  }),
];

/** The common members of all history routes. */
const HISTORY = {
  query: PAGE,
  paged: 'always',
  long: LONG_READ,
  reply: historySchema,
} as const satisfies Partial<Route>;

export const historyRoutes = [
  route('GET', '/api/admin/history', 'listHistory', {
    ...HISTORY,
    permissionIn: 'anyProject',
    summary: 'List the change sets of all projects that the caller may read, newest first',
    handle: (request) => readHistory(request, {}),
  }),
  route('GET', `${PROJECT}/history`, 'listProjectHistory', {
    ...HISTORY,
    summary: 'List the change sets of a project, newest first',
    handle: (request) => readHistory(request, request.ref),
  }),
  route('GET', `${FLAG}/history`, 'listFlagHistory', {
    ...HISTORY,
    summary: 'List the change sets of a flag, newest first',
    handle: (request) => readHistory(request, request.ref),
  }),
];

/** The maximum number of pages that one request reads to find change sets that the caller may see. */
const MAX_PAGES = 10;

/** Leaves out change sets with an event about a project, or about tokens or members, that the caller may not read. */
async function readHistory(
  { flags, principal, query, describeUsers }: RouteRequest,
  ref: HistoryRef,
): Promise<RouteResult> {
  const maySee = createProjectFilter(principal, 'listHistory');
  const maySeeAccess = createProjectFilter(principal, 'listEvents');
  const { limit } = unchecked<PageQuery>(query);
  const texts: string[] = [];
  let after = unchecked<PageQuery>(query).after;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page: ListPage<HistoryEntry> = await flags.history.list(ref, { limit, after });
    const subjects = subjectsOf(page.items.flatMap(({ events }) => events));
    const filter = await eventFilterFor(subjects, { projectsOfSet: projectsOfSetIn(flags), maySee });
    const visible: HistoryEntry[] = [];
    for (const entry of page.items) {
      const shown = filter.showSet(entry);
      if (shown && (await maySeeAll(projectsOf(shown.events.filter(isAboutAccess)), maySeeAccess))) visible.push(shown);
    }
    // The engine limits the size of a page.
    const first = visible.flatMap(({ events }) => events.slice(0, 1));
    const userOf = await describeActors(describeUsers, first);
    const toWire = (entry: HistoryEntry) => ({ ...userOf(entry.events[0]), ...historyEntryToWire(entry) });
    texts.push(...visible.map((entry) => JSON.stringify(toWire(entry))));
    after = page.next;
    if (texts.length > 0 || after === undefined) break;
  }
  const body = { version: 1, changes: jsonTexts(texts), next: after };
  return { body, next: after === undefined ? undefined : { after } };
}
