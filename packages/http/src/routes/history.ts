import type { HistoryEntry, HistoryRef, ListPage, PageQuery } from '@flags/core';
import { projectsOf } from '@flags/core/integration';
import { createProjectFilter } from '../auth.js';
import { unchecked } from '../body.js';
import { areAll, isAboutAccess, projectsOfSetIn, subjectsOf, visibilityOf } from '../changes/visibility.js';
import { historyEntryToWire, historySchema } from '../changes/wire.js';
import { jsonTexts } from '../json-chunks.js';
import { inputParameters } from '../query.js';
import { type Route, type RouteRequest, type RouteResult, route } from '../route.js';
import { describeActors } from '../users.js';
import { FLAG, PROJECT } from './paths.js';

const PAGE = inputParameters('pageQuery', {
  limit: 'At most so many, and no more than 1 MiB; 100 when absent. The Link header names the next page.',
  after: 'From where the page before has ended: `next` of its answer.',
});

/** The maximum number of change sets of a light page. Longer pages pass the gate. */
const SHORT_PAGE = 100;

/** The common members of all history routes. */
const HISTORY = {
  permission: 'listHistory',
  query: PAGE,
  paged: 'always',
  heavy: 'read',
  isLight: ({ query: { limit = 0 } }) => Number(limit) <= SHORT_PAGE,
  streamed: 'flags',
  reply: historySchema,
} as const satisfies Partial<Route>;

export const historyRoutes: readonly Route[] = [
  route('GET', '/api/admin/history', 'listHistory', {
    ...HISTORY,
    permissionBy: 'anyProject',
    summary: 'The change sets of all projects that the caller may read, newest first',
    handle: (request) => readHistory(request, {}),
  }),
  route('GET', `${PROJECT}/history`, 'listProjectHistory', {
    ...HISTORY,
    summary: 'The change sets of a project, newest first',
    handle: (request) => readHistory(request, request.ref),
  }),
  route('GET', `${FLAG}/history`, 'listFlagHistory', {
    ...HISTORY,
    summary: 'The change sets of a flag, newest first',
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
    const page: ListPage<HistoryEntry> = await flags.listHistory(ref, { limit, after });
    const subjects = subjectsOf(page.items.flatMap(({ events }) => events));
    const visibility = await visibilityOf(subjects, { projectsOfSet: projectsOfSetIn(flags), maySee });
    const visible: HistoryEntry[] = [];
    for (const entry of page.items) {
      const shown = visibility.showSet(entry);
      if (shown && (await areAll(projectsOf(shown.events.filter(isAboutAccess)), maySeeAccess))) visible.push(shown);
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
