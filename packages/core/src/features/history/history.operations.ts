import { groupBy } from '../../base/collections.js';
import type { ChangeSetRef, FlagRef, ListPage, PageQuery } from '../../base/common.types.js';
import { LIMITS } from '../../base/limits.js';
import { validatePageQuery } from '../../base/pages.js';
import { compareStates, type PartDifference } from '../../base/parts.js';
import { assertText, invalidInput } from '../../base/validator.js';
import type { Engine } from '../../kernel/engine.js';
import { type LoggedSet, readProjects, readSet, toChangeSet, walkBackSets } from '../../kernel/log/change-set-log.js';
import { compareByEvents } from '../../kernel/log/differences.js';
import { type LogSource, stateBefore } from '../../kernel/log/event-log.js';
import { toFlagsEvent } from '../../kernel/log/feed.js';
import { type Call, CHANGE_SET, call, defineOperations, NO_REFERENCE, type Page } from '../../kernel/operation.js';
import { nameOf } from '../../storage/documents.js';
import type { EventFilter, StoredEvent } from '../../storage/port.js';
import { findFlag, flagDocuments } from '../flags/flag.kind.js';
import { findProject, projectDocuments } from '../projects/project.kind.js';
import type { DocumentDifference, HistoryEntry, HistoryRef } from './history.types.js';

/** Change sets of a page without a limit: the log grows without end. */
const DEFAULT_LIMIT = 100;

/** Lists the change sets of a flag, of a project or of the instance, with the events and differences of that scope. */
async function listHistory(
  engine: Engine,
  ref: HistoryRef = {},
  page: PageQuery = {},
): Promise<ListPage<HistoryEntry>> {
  const { after, limit = DEFAULT_LIMIT } = validatePageQuery(page);
  const filter = toFilter(ref);
  const items: HistoryEntry[] = [];
  let bytes = 0;
  let next: string | undefined;
  for await (const group of walkBackSets(engine.storage, {
    filter,
    ...(after !== undefined && { until: after, offset: 1 }),
  })) {
    const entry = items.length < limit ? await toEntry(engine, group) : undefined;
    bytes += entry ? Buffer.byteLength(JSON.stringify(entry)) : 0;
    if (!entry || (items.length > 0 && bytes > LIMITS.pageSize)) return { items, ...(next !== undefined && { next }) };
    items.push(entry);
    next = group.events[0]?.position;
  }
  if (items.length === 0 && after === undefined) await assertExists(engine, ref);
  return { items };
}

async function getChangeSet(engine: Engine, ref: ChangeSetRef): Promise<HistoryEntry> {
  return toEntry(engine, await readSet(engine.storage, ref.changeSet));
}

async function listChangeSetProjects(engine: Engine, ref: ChangeSetRef): Promise<ListPage<string | null>> {
  return { items: await readProjects(engine, ref.changeSet) };
}

type Scope = Partial<FlagRef>;

function toFilter(scope: Scope): EventFilter {
  if (typeof scope !== 'object' || scope === null) {
    throw invalidInput([{ message: 'must name a project, a flag of a project, or nothing', path: '' }]);
  }
  const { project, flag } = scope;
  if (project === undefined && flag === undefined) return {};
  assertText(projectDocuments.kind, project);
  if (flag === undefined) return { project: `${project}` };
  assertText(flagDocuments.kind, flag);
  return { project: `${project}`, subject: { kind: flagDocuments.kind, id: flag } };
}

/** Throws `flag_not_found` or `project_not_found` without a history. A deleted flag or project keeps its history. */
async function assertExists({ read }: Engine, { project, flag }: Scope): Promise<void> {
  if (project === undefined) return;
  if (flag === undefined) await findProject(read, { project });
  else await findFlag(read, { project, flag });
}

async function toEntry(source: LogSource, set: LoggedSet): Promise<HistoryEntry> {
  const differences: DocumentDifference[] = [];
  for (const own of groupBy(set.events, ({ subject }) => nameOf(subject)).values()) {
    const parts = await compare(source, own);
    if (own[0] && parts.length > 0) differences.push({ ...own[0].subject, parts });
  }
  return { ...toChangeSet(source.registry, set), differences };
}

/**
 * Compares a document before and after the events of a set. Reads the log only if the set deletes a changed document.
 */
async function compare(source: LogSource, events: readonly StoredEvent[]): Promise<readonly PartDifference[]> {
  const { registry } = source;
  const { holdsDocument } = registry;
  const [first] = events;
  if (!first) return [];
  const { kind } = first.subject;
  const shown = events.map((event) => toFlagsEvent(registry, event));
  if (!shown.some(({ type }) => holdsDocument(type))) return compareByEvents(registry, shown);
  if (events.length === 1) return compareStates(shown[0]?.before, shown[0]?.data);
  const before = holdsDocument(first.type) ? shown[0]?.before : await stateBefore(source, first);
  return compareStates(before, registry.foldEvents(kind, before ?? undefined, shown));
}

/** The reads of the history. */
export const historyOperations = defineOperations({
  listHistory: call({
    method: 'history.list',
    ref: NO_REFERENCE,
    run: (engine: Engine, { input, context }: Call<undefined, HistoryRef | undefined, Page>) =>
      listHistory(engine, input, context),
  }),
  getChangeSet: call({
    method: 'history.get',
    ref: CHANGE_SET,
    run: (engine: Engine, { ref }: Call<ChangeSetRef>) => getChangeSet(engine, ref),
  }),
  listChangeSetProjects: call({
    method: 'history.listProjects',
    ref: CHANGE_SET,
    run: (engine: Engine, { ref }: Call<ChangeSetRef>) => listChangeSetProjects(engine, ref),
  }),
});
