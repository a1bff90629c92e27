import type { ChangeContext, ListPage, PageQuery } from '../../base/common.types.js';
import { FlagsError } from '../../base/errors.js';
import { cloneJson } from '../../base/json.js';
import { LIMITS } from '../../base/limits.js';
import { pause } from '../../base/paced.js';
import { pageBounds } from '../../base/pages.js';
import { invalidInput, pickMembers } from '../../base/validator.js';
import { Namespace, run } from '../../kernel/changes/run-operation.js';
import type { Engine, PreparedChange, UnitOfWork } from '../../kernel/engine.js';
import {
  type Call,
  call,
  defineOperations,
  NO_REFERENCE,
  operation,
  type Page,
  SEGMENT,
} from '../../kernel/operation.js';
import type { DocumentReader, Documents, Read, Versioned } from '../../storage/document-reader.js';
import { assertNoFaults, newFaults, newPatterns } from '../flags/faults.js';
import { type FlagState, usesOfSegment } from '../flags/flag.js';
import { findProject, flagDocuments, type StoredFlagSummary } from '../flags/flag.kind.js';
import { assertSegmentCost, findInvalidPatterns } from '../flags/patterns.js';
import type { SegmentUse } from '../flags/strategy.types.js';
import * as segmentRules from './segment.decide.js';
import { movesAway, registerSegment, renameSegment, unregisterSegment } from './segment.decide.js';
import {
  NO_SEGMENTS,
  SEGMENT_REGISTRY,
  type SegmentRegistry,
  type SegmentState,
  segmentRegistries,
} from './segment.js';
import { type SegmentEvent, segmentDocuments } from './segment.kind.js';
import { newSegment } from './segment.schema.js';
import type { NewSegment, Segment, SegmentChanges, SegmentQuery, SegmentRef } from './segment.types.js';
import { newSegmentIds } from './segment-ids.js';

const INPUT_MEMBERS = Object.keys(newSegment.properties);
/** Segments in the first read of a page. Later reads estimate the number from the size so far. */
const FIRST_SEGMENTS = 8;

async function getSegment(documents: Pick<DocumentReader, 'read'>, ref: SegmentRef): Promise<Segment> {
  return toSegment(await findSegment(documents, ref));
}

async function listSegments(
  engine: Engine,
  { strategy }: SegmentQuery = {},
  page?: PageQuery,
): Promise<ListPage<Segment>> {
  const { limit, after } = pageBounds(page);
  if (after !== undefined && !/^\d+$/.test(after)) {
    throw invalidInput([{ message: 'must be the id of a segment', path: '/after' }]);
  }
  const follows = (id: number) => after === undefined || id > Number(after);
  if (strategy === undefined && limit === Number.POSITIVE_INFINITY) {
    return { items: (await listAllSegments(engine)).filter(({ id }) => follows(id)) };
  }
  const ids = strategy === undefined ? await listSegmentIds(engine) : await listUsedBy(engine, strategy);
  return readSegments(
    engine,
    ids.filter(follows).toSorted((one, other) => one - other),
    limit,
  );
}

async function listSegmentUses(engine: Engine, ref: SegmentRef): Promise<ListPage<SegmentUse>> {
  await findSegment(engine, ref);
  return { items: await listUses(engine, ref.segment) };
}

/** Lists all segments in ascending order of ids. Sorts, because a storage lists ids in text order. */
async function listAllSegments({ storage }: Engine): Promise<readonly Segment[]> {
  const listed = await storage.list({ kind: segmentDocuments.kind, part: 'body' });
  const segments = listed.map(({ content, revision }) => toSegment({ state: content as SegmentState, revision }));
  return segments.sort((one, other) => one.id - other.id);
}

/** Lists the ids of all segments in ascending order. Sorts, because a storage lists ids in text order. */
async function listSegmentIds({ storage }: Engine): Promise<readonly number[]> {
  const listed = await storage.list({ kind: segmentDocuments.kind, part: 'summary' });
  return listed.map(({ key }) => Number(key.id)).sort((one, other) => one - other);
}

/** Reads a page of the segments with these ids. It ends at the limit or at the page size; without a limit it is everything. */
async function readSegments({ read }: Engine, ids: readonly number[], limit: number): Promise<ListPage<Segment>> {
  const items: Segment[] = [];
  const pageSize = limit === Number.POSITIVE_INFINITY ? limit : LIMITS.pageSize;
  let size = 0;
  for (let place = 0; place < ids.length; ) {
    const room = size === 0 ? FIRST_SEGMENTS : Math.ceil((pageSize - size) / (size / items.length));
    const batch = ids.slice(place, place + Math.min(room, limit - items.length));
    for (const found of await Promise.all(batch.map((id) => read(segmentDocuments, idOfSegment(id))))) {
      if (!found) continue;
      size += JSON.stringify(found.state).length;
      if (size > pageSize && items.length > 0) return pageUpTo(items);
      items.push(toSegment(found));
    }
    place += batch.length;
    if (place < ids.length && (items.length === limit || size >= pageSize)) return pageUpTo(items);
  }
  return { items };
}

function pageUpTo(items: readonly Segment[]): ListPage<Segment> {
  return { items, next: `${items.at(-1)?.id}` };
}

/** Lists the strategies that use a segment, by flag name. Includes archived flags. */
export async function listUses(documents: DocumentReader, segment: number): Promise<readonly SegmentUse[]> {
  const uses: SegmentUse[] = [];
  for await (const flag of readFlagsThat(documents, (segments) => segments.includes(segment))) {
    uses.push(...usesOfSegment(flag, segment));
  }
  return uses;
}

/** Lists the ids of the segments that a strategy uses. */
async function listUsedBy(engine: Engine, strategy: string): Promise<readonly number[]> {
  for await (const { environments } of readFlagsThat(engine, (segments) => segments.length > 0)) {
    const found = environments.flatMap((one) => one.strategies).find(({ id }) => id === strategy);
    if (found) return found.segments ?? [];
  }
  return [];
}

/** Reads the flags whose summaries list matching segments. */
async function* readFlagsThat(
  documents: DocumentReader,
  use: (segments: readonly number[]) => boolean,
): AsyncGenerator<FlagState> {
  const listed = await documents.list({ kind: flagDocuments.kind, part: 'summary' });
  const candidates = listed.filter(({ content }) => use((content as StoredFlagSummary).segments));
  const names = candidates.map(({ key }) => key.id);
  for await (const { state } of readDocumentsById(documents, flagDocuments, names)) yield state;
}

/** Documents per batch: concurrent reads hide the latency of a database, and a batch limits the memory. */
const DOCUMENTS_AT_ONCE = 16;

/** Reads documents by id in batches, and omits missing ones. */
export async function* readDocumentsById<State>(
  { read }: Pick<DocumentReader, 'read'>,
  documents: Documents<State>,
  ids: readonly string[],
): AsyncGenerator<{ readonly id: string; readonly state: State }> {
  for (let first = 0; first < ids.length; first += DOCUMENTS_AT_ONCE) {
    if (first > 0) await pause();
    const batch = ids.slice(first, first + DOCUMENTS_AT_ONCE);
    const found = await Promise.all(batch.map((id) => read(documents, id)));
    for (const [index, document] of found.entries()) {
      if (document) yield { id: batch[index] ?? '', state: document.state };
    }
  }
}

async function findSegment(
  { read }: Pick<DocumentReader, 'read'>,
  { segment, project }: SegmentRef,
): Promise<Versioned<SegmentState>> {
  const found = await read(segmentDocuments, idOfSegment(segment));
  const isThere = found && (project === undefined || project === (found.state.project ?? null));
  return isThere ? found : throwSegmentNotFound(segment);
}

/** Returns the document id of a segment. */
function idOfSegment(segment: number): string {
  if (typeof segment === 'number') return `${segment}`;
  throw invalidInput([{ message: 'must name a segment, as a number', path: '/segment' }]);
}

function toSegment({ state, revision }: Versioned<SegmentState>): Segment {
  const { id, name, description, constraints, project = null, createdAt, createdBy } = state;
  return { id, name, description, constraints, project, createdAt, createdBy, revision };
}

function throwSegmentNotFound(segment: number): never {
  throw new FlagsError('segment_not_found', `There is no segment ${segment}; create it, or list the segments.`);
}

function createSegment(engine: Engine, _: undefined, input: NewSegment): PreparedChange<Segment> {
  const valid = copyInput(input);
  const createdAt = engine.now().toISOString();
  return {
    // The decision assigns the id. Creations wait for each other, because all of them write the registry.
    subject: { kind: segmentDocuments.kind, id: '' },
    async decide(unit, { actor }) {
      const id = await nextId(engine, unit);
      await findProjectOf(unit.read, valid);
      const events = segmentRules.createSegment(valid, { id, createdAt, createdBy: actor });
      await assertUsable(engine, unit, undefined, events);
      await unit.apply(segmentDocuments, idOfSegment(id), events);
      await changeRegistry(unit, (all) => registerSegment(all, { id, name: valid.name }));
    },
    async result(committed) {
      const [id] = committed.written(segmentDocuments).keys();
      return getSegment(committed, { segment: Number(id) });
    },
  };
}

function updateSegment(engine: Engine, ref: SegmentRef, input: SegmentChanges): PreparedChange<Segment> {
  const id = idOfSegment(ref.segment);
  const changes = copyInput(input);
  return {
    subject: { kind: segmentDocuments.kind, id },
    async decide(unit) {
      const { state } = await findSegment(unit, ref);
      const { name = state.name } = changes;
      await findProjectOf(unit.read, changes);
      const uses = movesAway(state, changes) ? await listUses(unit.unchecked, state.id) : [];
      await pause();
      const events = segmentRules.updateSegment(state, changes, uses);
      await assertUsable(engine, unit, state, events);
      await unit.apply(segmentDocuments, id, events);
      if (name !== state.name) await changeRegistry(unit, (all) => renameSegment(all, state.name, name));
    },
    async result(committed) {
      // Copying a large segment takes as long as committing it.
      await pause();
      return getSegment(committed, { segment: ref.segment });
    },
  };
}

/** Refuses new faults, too many patterns, and invalid ones. */
async function assertUsable(
  engine: Engine,
  unit: UnitOfWork,
  before: SegmentState | undefined,
  events: readonly SegmentEvent[],
): Promise<void> {
  for (const { data: after } of events) {
    if (!after) continue;
    assertNoFaults(newFaults(before, after));
    await assertSegmentCost(engine, unit, after);
    // Last: compiling is what takes long.
    assertNoFaults(await findInvalidPatterns(newPatterns(before, after)));
  }
}

function deleteSegment(_: Engine, ref: SegmentRef): PreparedChange<void> {
  const id = idOfSegment(ref.segment);
  return {
    subject: { kind: segmentDocuments.kind, id },
    async decide(unit) {
      const { state } = await findSegment(unit, ref);
      const uses = await listUses(unit.unchecked, state.id);
      await unit.apply(segmentDocuments, id, segmentRules.deleteSegment(state, uses.length));
      await changeRegistry(unit, (all) => unregisterSegment(all, state.name));
    },
    result: () => undefined,
  };
}

/** Copies an input with its constraints, so that later changes by the caller have no effect. */
function copyInput<T extends SegmentChanges>(input: T): T {
  const { constraints } = input;
  return { ...pickMembers(input, INPUT_MEMBERS), ...(constraints && { constraints: cloneJson(constraints) }) };
}

/** Throws `project_not_found` if the named project does not exist. */
async function findProjectOf(read: Read, { project }: SegmentChanges): Promise<void> {
  if (typeof project === 'string') await findProject(read, { project });
}

async function nextId({ storage }: Engine, unit: UnitOfWork): Promise<number> {
  const { lastId } = (await unit.read(segmentRegistries, SEGMENT_REGISTRY))?.state ?? NO_SEGMENTS;
  const taken = new Set([...unit.written(segmentDocuments).keys()].map(Number));
  const [id] = await newSegmentIds(storage, { count: 1, lastId, taken });
  return id as number;
}

/** Changes the registry of segment names and ids. */
export async function changeRegistry(
  unit: UnitOfWork,
  apply: (registry: SegmentRegistry) => SegmentRegistry,
): Promise<void> {
  const found = await unit.read(segmentRegistries, SEGMENT_REGISTRY);
  await unit.put(segmentRegistries, SEGMENT_REGISTRY, apply(found?.state ?? NO_SEGMENTS));
}

export const segmentOperations = defineOperations({
  createSegment: operation({
    method: 'segments.create',
    ref: NO_REFERENCE,
    input: 'newSegment',
    prepare: createSegment,
  }),
  updateSegment: operation({
    method: 'segments.update',
    ref: SEGMENT,
    input: 'segmentChanges',
    prepare: updateSegment,
  }),
  deleteSegment: operation({ method: 'segments.delete', ref: SEGMENT, prepare: deleteSegment }),
  getSegment: call({
    method: 'segments.get',
    ref: SEGMENT,
    run: (engine: Engine, { ref }: Call<SegmentRef>) => getSegment(engine, ref),
  }),
  listSegments: call({
    method: 'segments.list',
    ref: ['strategy?'],
    run: (engine: Engine, { ref, context }: Call<SegmentQuery | undefined, undefined, Page>) =>
      listSegments(engine, ref, context),
  }),
  listSegmentUses: call({
    method: 'segments.listUses',
    ref: SEGMENT,
    run: (engine: Engine, { ref }: Call<SegmentRef>) => listSegmentUses(engine, ref),
  }),
});

/** Constraints with a name, which strategies of many flags share: `flags.segments`. */
export class Segments extends Namespace {
  /**
   * Creates a segment.
   *
   * If several callers create the same name concurrently, exactly one succeeds.
   *
   * @throws FlagsError `invalid_input`, `project_not_found`, `segment_exists`, `revision_mismatch` (with any
   * `ifRevision`)
   * @example
   * const { id } = await flags.segments.create({
   *   name: 'beta', constraints: [{ contextName: 'userId', operator: 'IN', values: ['7', '8'] }],
   * });
   * await flags.addStrategy(environment, { name: 'default', segments: [id] });
   */
  create(input: NewSegment, context?: ChangeContext): Promise<Segment> {
    return run(this, segmentOperations.createSegment, { input, context });
  }

  /**
   * Changes a segment for all strategies that use it.
   *
   * If a strategy of another project starts to use the segment while `project` changes, exactly one of both calls
   * succeeds.
   *
   * @throws FlagsError `invalid_input`, `segment_not_found`, `segment_exists`, `project_not_found`, `segment_in_use`
   * (flags of other projects than the new `project` use it), `revision_mismatch`
   * @example
   * await flags.segments.update({ segment: id }, { constraints: [] });
   */
  update(ref: SegmentRef, changes: SegmentChanges, context?: ChangeContext): Promise<Segment> {
    return run(this, segmentOperations.updateSegment, { ref, input: changes, context });
  }

  /**
   * Deletes a segment that no strategy uses, including strategies of archived flags.
   *
   * If a strategy starts to use the segment concurrently, exactly one of both calls succeeds.
   *
   * @throws FlagsError `segment_not_found`, `segment_in_use`, `revision_mismatch`
   * @example
   * await flags.segments.delete({ segment: id });
   */
  delete(ref: SegmentRef, context?: ChangeContext): Promise<void> {
    return run(this, segmentOperations.deleteSegment, { ref, context });
  }

  /**
   * Gets one segment.
   *
   * @throws FlagsError `segment_not_found`
   * @example
   * const { constraints } = await flags.segments.get({ segment: id });
   */
  get(ref: SegmentRef): Promise<Segment> {
    return run(this, segmentOperations.getSegment, { ref });
  }

  /**
   * Lists segments, or those of one strategy, by id. A page has at most 1 MiB.
   *
   * @example
   * const { items } = await flags.segments.list();
   * const names = items.map((segment) => segment.name);
   */
  list(query?: SegmentQuery, page?: PageQuery): Promise<ListPage<Segment>> {
    return run(this, segmentOperations.listSegments, { ref: query, context: page });
  }

  /**
   * Lists all strategies that use a segment, including those of archived flags, by flag name.
   *
   * @throws FlagsError `segment_not_found`
   * @example
   * const { items } = await flags.segments.listUses({ segment: id });
   * const flagsThatUseIt = items.map((use) => use.flag);
   */
  listUses(ref: SegmentRef): Promise<ListPage<SegmentUse>> {
    return run(this, segmentOperations.listSegmentUses, { ref });
  }
}
