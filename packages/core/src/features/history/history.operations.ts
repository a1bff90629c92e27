import { groupBy } from '../../base/collections.js';
import type { ChangeSetRef, FlagRef, ListPage, PageQuery } from '../../base/common.types.js';
import { LIMITS } from '../../base/limits.js';
import { validatePageQuery } from '../../base/pages.js';
import { compareStates, type PartDifference } from '../../base/parts.js';
import { assertText, invalidInput } from '../../base/validator.js';
import type { ChangeEngine } from '../../kernel/changes/change-engine.js';
import type { ChangeSet } from '../../kernel/changes/change-set.types.js';
import { commitSet, planPrepared } from '../../kernel/changes/change-sets.operations.js';
import { ChangesHash } from '../../kernel/changes/repetition.js';
import { ENGINE, Namespace, run, toContext } from '../../kernel/changes/run-operation.js';
import type { Engine } from '../../kernel/engine.js';
import {
  type LoggedSet,
  readProjects,
  readSet,
  readSetsBackwards,
  toChangeSet,
} from '../../kernel/log/change-set-log.js';
import { compareByEvents } from '../../kernel/log/differences.js';
import { type LogSource, stateBefore } from '../../kernel/log/event-log.js';
import { toFlagsEvent } from '../../kernel/log/feed.js';
import {
  type Call,
  CHANGE_SET,
  call,
  defineOperations,
  NO_REFERENCE,
  type Page,
  singleOperation,
} from '../../kernel/operation.js';
import { nameOf } from '../../storage/document-reader.js';
import type { EventFilter, StoredEvent } from '../../storage/port.js';
import { type EnvironmentEngine, planOf, previewPlanned } from '../environments/plan.operations.js';
import type { ChangePlan, ChangePreview, PreviewQuery } from '../environments/plan.types.js';
import { findFlag, flagDocuments } from '../flags/flag.kind.js';
import { findProject, projectDocuments } from '../projects/project.kind.js';
import { asOf, type PastEngine } from './as-of.js';
import type { DocumentDifference, FlagsView, HistoryEntry, HistoryRef, UndoOptions } from './history.types.js';
import { prepareUndo } from './undo.js';

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
  for await (const group of readSetsBackwards(engine.storage, {
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
async function undoChangeSet(
  engine: EnvironmentEngine,
  ref: ChangeSetRef,
  options: UndoOptions = {},
): Promise<ChangeSet> {
  const hash = new ChangesHash(engine);
  hash.add({ op: 'undoChangeSet', input: ref.changeSet });
  const context = toContext(options, hash);
  return commitSet(engine, [await prepareUndo(engine, ref, options)], context);
}

async function planUndo(engine: EnvironmentEngine, ref: ChangeSetRef, options: Authorize = {}): Promise<ChangePlan> {
  return planOf(engine, await engine.plan([await prepareUndo(engine, ref, options)]));
}

type Authorize = Pick<UndoOptions, 'authorize'>;

export const historyOperations = defineOperations({
  // A change request contains it as a change. Its method returns the whole set.
  undoChangeSet: {
    ...singleOperation({
      method: 'history.undo',
      ref: CHANGE_SET,
      isInRequests: 'alone',
      prepare: (engine: Engine, ref: ChangeSetRef, _input: unknown) => prepareUndo(engine, ref),
    }),
    run: (engine: EnvironmentEngine, { ref, context }: Call<ChangeSetRef, undefined, UndoOptions | undefined>) =>
      undoChangeSet(engine, ref, context),
  },
  planUndo: call({
    method: 'history.planUndo',
    ref: CHANGE_SET,
    run: (engine: EnvironmentEngine, { ref, context }: Call<ChangeSetRef, undefined, Authorize | undefined>) =>
      planUndo(engine, ref, context),
  }),
  previewUndo: call({
    method: 'history.previewUndo',
    ref: CHANGE_SET,
    run: (engine: EnvironmentEngine, { ref, context }: Call<ChangeSetRef, undefined, PreviewQuery & Authorize>) =>
      previewPlanned(engine, context, async () => planPrepared(engine, [await prepareUndo(engine, ref, context)])),
  }),
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

/** Change sets that were committed, how to take them back, and the flags of the past: `flags.history`. */
export class History extends Namespace {
  /** @internal */
  declare readonly [ENGINE]: ChangeEngine & PastEngine;

  /**
   * Undoes a change set in one commit. Restores each part that the set changed, and keeps later changes of other parts.
   * Parts are each metadata member, strategy, switch and member, the variants, the dependencies, the archived state,
   * and the existence of a document. The result is a change set, which can be undone.
   *
   * Does not restore metrics and API tokens. Safe to call concurrently: after a conflict, the undo is decided again.
   *
   * @param options `authorize` is called with the set before anything is decided, and refuses the undo by throwing
   * @throws FlagsError `change_set_not_found`; `undo_conflict` (a part was changed again: `details` names the later
   * sets; or a reference is missing, a name taken, or the set changed tokens only); `change_set_too_large`; and the
   * refusals of single operations, such as `flag_has_children`, `segment_in_use`, `project_not_empty`, `last_owner`
   * @example
   * await flags.history.undo({ changeSet: set.id }, { reason: 'Too many errors' });
   */
  undo(ref: ChangeSetRef, options?: UndoOptions): Promise<ChangeSet> {
    return run(this, historyOperations.undoChangeSet, { ref, context: options });
  }

  /**
   * Decides an undo without a commit, as `plan` decides changes: shows the direction that the undo would take.
   *
   * @throws FlagsError as `undoChangeSet`
   * @example
   * const { documents, effects } = await flags.history.planUndo({ changeSet: set.id });
   */
  planUndo(ref: ChangeSetRef, options?: Pick<UndoOptions, 'authorize'>): Promise<ChangePlan> {
    return run(this, historyOperations.planUndo, { ref, context: options });
  }

  /**
   * Evaluates contexts before and after an undo, as `preview` does for changes. Changes nothing.
   *
   * @param query as of `preview`, with `authorize` as of `undoChangeSet`
   * @throws FlagsError as `undoChangeSet` and `preview`
   * @example
   * const query = { environment: 'production', contexts: [{ userId: '7' }] };
   * const { flags: [checkout] } = await flags.history.previewUndo({ changeSet: set.id }, query);
   */
  previewUndo(ref: ChangeSetRef, query: PreviewQuery & Pick<UndoOptions, 'authorize'>): Promise<ChangePreview> {
    return run(this, historyOperations.previewUndo, { ref, context: query });
  }

  /**
   * Lists change sets, newest first, with the events and differences of a flag, of a project, or of everything.
   *
   * A page has at most `limit` sets (default: 100, because the log grows without end), and at most 1 MiB of JSON but at
   * least one set.
   *
   * @throws FlagsError `invalid_input`, `project_not_found`, `flag_not_found` (unless the log knows it)
   * @example
   * const { items, next } = await flags.history.list({ project: 'default', flag: 'checkout' }, { limit: 20 });
   */
  list(ref?: HistoryRef, page?: PageQuery): Promise<ListPage<HistoryEntry>> {
    return run(this, historyOperations.listHistory, { input: ref, context: page });
  }

  /**
   * Gets a change set with all its events and differences.
   *
   * @throws FlagsError `change_set_not_found`, `invalid_input`
   * @example
   * const { actor, reason, differences } = await flags.history.get({ changeSet: set.id });
   */
  get(ref: ChangeSetRef): Promise<HistoryEntry> {
    return run(this, historyOperations.getChangeSet, { ref });
  }

  /**
   * Lists all projects of a change set, without reading the data of its events; null for the instance. A page of a
   * history or of events may show only a part of the set.
   *
   * @throws FlagsError `change_set_not_found`, `invalid_input`
   * @example
   * const { items } = await flags.history.listProjects({ changeSet: event.changeSet }); // ['shop', null]
   */
  listProjects(ref: ChangeSetRef): Promise<ListPage<string | null>> {
    return run(this, historyOperations.listChangeSetProjects, { ref });
  }

  /**
   * Returns a view of the flags at a time, or after the event at a position. Uses the present environments
   * and options. The view reads lazily, and caches the documents that it has read.
   *
   * @param time ISO 8601, a `Date`, or the position of an event. The state is that after the last event at or before it
   * @throws FlagsError `invalid_input` for an invalid time; `closed`. The methods of the view reject with
   * `invalid_input` for a time before the first event
   * @example
   * const view = flags.history.asOf('2026-01-02T14:03:00Z');
   * const saw = await view.isEnabled('checkout', { userId: '42' }, { environment: 'production' });
   */
  asOf(time: string | Date | { readonly position: string }): FlagsView {
    const engine = this[ENGINE];
    engine.lifetime.assertOpen();
    return asOf(engine, time);
  }
}
