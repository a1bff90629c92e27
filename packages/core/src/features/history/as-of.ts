import { assertEnvironment } from '../../base/assert-environment.js';
import { compareCodePoints } from '../../base/collections.js';
import type { FlagRef } from '../../base/common.types.js';
import { cloneJson, deepFreeze } from '../../base/json.js';
import type { Lifetime } from '../../base/lifetime.js';
import { LIMITS } from '../../base/limits.js';
import { memoizeAsync } from '../../base/memoize.js';
import { pause } from '../../base/paced.js';
import { toTimestamp } from '../../base/primitives.js';
import { assertOptions, assertReference, assertText, invalidInput } from '../../base/validator.js';
import type { EnvironmentChoice } from '../../evaluation/evaluation.types.js';
import type { Snapshot } from '../../evaluation/snapshot.js';
import type { Engine } from '../../kernel/engine.js';
import { stateAt } from '../../kernel/log/event-log.js';
import { createRead, nameOf, type Read } from '../../storage/document-reader.js';
import type { EventPage, FlagsStorage, StoredEventQuery } from '../../storage/port.js';
import { compileEnvironment, preparePatterns, type Replica } from '../environments/environments.js';
import type { Dependency } from '../flags/dependency.types.js';
import { type DependencyEdge, dependencyEdges, type FlagState, segmentsOf } from '../flags/flag.js';
import { findFlag, flagDocuments } from '../flags/flag.kind.js';
import { toDetail } from '../flags/flag.operations.js';
import type { FlagDetail } from '../flags/flag.types.js';
import type { SegmentState } from '../segments/segment.js';
import { segmentDocuments } from '../segments/segment.kind.js';
import type { FlagsView } from './history.types.js';

/** ISO 8601, a `Date`, or the position of an event. */
type AsOf = string | Date | { readonly position: string };

/** The last event of a view, and the time of its evaluations. */
interface PastMoment {
  readonly position: string;
  /** ISO 8601. */
  readonly at: string;
}

interface Evaluated {
  readonly flag: string;
  readonly environment: string;
}

/** What views of the past need beside the rest of the engine. */
export interface PastEngine extends Engine {
  readonly lifetime: Lifetime;
  readonly replica: Pick<Replica, 'options'>;
}

/**
 * Returns a view of the flags at a time, or after the event at a position. The first read happens at the first call. The
 * view caches the documents and snapshots that it has read.
 */
export function asOf(engine: PastEngine, time: AsOf): FlagsView {
  const { track } = engine.lifetime;
  const moment = memoizeAsync<void, PastMoment>(createMomentFinder(engine, time));
  const read = createRead({
    get: memoizeAsync(async (key) => {
      const { position: until } = await moment();
      const found = await stateAt(engine, key, { until });
      return found && { key, parent: null, revision: found.revision, body: found.state };
    }, nameOf),
  });

  const compile = memoizeAsync(
    async ({ flag, environment }: Evaluated): Promise<Snapshot> => {
      const documents = await readForEvaluation(read, flag);
      const now = Date.parse((await moment()).at);
      await preparePatterns(documents);
      await pause();
      const silent = { onProblem: () => undefined, onImpression: () => undefined };
      return compileEnvironment(environment, documents, { ...engine.replica.options, ...silent, now: () => now });
    },
    ({ flag, environment }) => `${environment} ${flag}`,
  );

  async function snapshotWith(flag: string, options: EnvironmentChoice | undefined): Promise<Snapshot> {
    assertOptions('an evaluation', options);
    const environment = options?.environment ?? engine.settings.environment;
    assertEnvironment(engine, environment);
    assertText(flagDocuments.kind, flag);
    const snapshot = await compile({ flag, environment });
    // Compiling a flag of 1 MiB takes as long as evaluating it.
    await pause();
    return snapshot;
  }

  async function getFlag(ref: FlagRef): Promise<FlagDetail> {
    assertReference('getFlag', ['project', 'flag'], ref);
    const found = await findFlag(read, ref);
    const children = await listChildrenAt(engine, { ref, position: (await moment()).position, read });
    // The log has no metrics, so the time of the last evaluation is unknown.
    return cloneJson(toDetail(found, { settings: engine.settings, lastSeenAt: null, children }));
  }

  return {
    getFlag: (ref) => track(() => getFlag(ref)),
    isEnabled: (flag, context, options) =>
      track(async () => (await snapshotWith(flag, options)).isEnabled(flag, context, options?.fallback)),
    getVariant: (flag, context, options) =>
      track(async () => (await snapshotWith(flag, options)).getVariant(flag, context, options?.fallback)),
    explain: (flag, context, options) =>
      track(async () => deepFreeze((await snapshotWith(flag, options)).explain(flag, context))),
  };
}

/** Returns a function that finds the moment. Throws `invalid_input` at once for an invalid time. */
function createMomentFinder({ storage }: Engine, time: unknown): () => Promise<PastMoment> {
  const { position } = Object(time) as { readonly position?: unknown };
  const at = position === undefined ? toTime(time) : undefined;
  if (position !== undefined && typeof position !== 'string') throw notATime();
  const bounds = at === undefined ? { until: String(position) } : { filter: { to: at } };
  const query: StoredEventQuery = { order: 'newest-first', limit: 1, withoutData: true, ...bounds };
  return async () => {
    const [last] = (await storage.events(query)).events;
    if (!last) throw invalidInput([{ message: 'must not be before the first event of the log', path: '/asOf' }]);
    return { position: last.position, at: at ?? last.at };
  };
}

/** Checks for `getTime`: `instanceof` fails for a Date from another realm. */
function toTime(time: unknown): string {
  try {
    if (typeof time === 'string') return toTimestamp(time);
    return new Date((time as Date).getTime()).toISOString();
  } catch {
    throw notATime();
  }
}

function notATime(): Error {
  const message = 'must be an ISO 8601 time, a valid Date, or the position of an event';
  return invalidInput([{ message, path: '/asOf' }]);
}

/** Reads a flag, its parents and their segments. An archived flag is unknown to evaluation. */
async function readForEvaluation(read: Read, name: string) {
  const flags = new Map<string, FlagState>();
  const segments = new Map<string, SegmentState>();
  const wanted = [name];
  for (const flag of wanted) {
    const found = await read(flagDocuments, flag);
    if (!found || found.state.archived || flags.has(flag)) continue;
    flags.set(flag, found.state);
    wanted.push(...found.state.dependencies.map((dependency) => dependency.flag));
    for (const id of segmentsOf(found.state)) {
      const segment = await read(segmentDocuments, `${id}`);
      if (segment) segments.set(`${id}`, segment.state);
    }
  }
  return { flags, segments };
}

interface PastFlag {
  readonly ref: FlagRef;
  /** The position of the view, and its documents. */
  readonly position: string;
  readonly read: Read;
}

/** Lists the flags that depended on a flag and were not archived, in name order. */
async function listChildrenAt(engine: Engine, { ref, position, read }: PastFlag): Promise<readonly string[]> {
  const children: string[] = [];
  for (const name of await listCandidates(engine.storage, ref.flag, position)) {
    const found = await read(flagDocuments, name);
    if (!found || found.state.archived) continue;
    if (found.state.dependencies.some(({ flag }) => flag === ref.flag)) children.push(name);
  }
  return children.sort(compareCodePoints);
}

/**
 * Returns the flags that may have been children: the present children, and those that a later event removed or deleted.
 * Reads the index first, so that a concurrent change cannot hide a child.
 */
async function listCandidates(storage: FlagsStorage, parent: string, after: string): Promise<ReadonlySet<string>> {
  const edges = await storage.list({ kind: dependencyEdges.kind, parent, part: 'body' });
  const names = new Set(edges.map(({ content }) => (content as DependencyEdge).child));
  for (const type of ['dependency-removed', 'flag-deleted'] as const) {
    const query = { order: 'newest-first', after, filter: { type }, limit: LIMITS.eventsPerPage } as const;
    for (let page: Partial<StoredEventQuery> | undefined = {}; page; ) {
      const { events }: EventPage = await storage.events({ ...query, ...page, maxBytes: LIMITS.pageSize });
      for (const { subject, before } of events) if (parentsIn(before).includes(parent)) names.add(subject.id);
      const last = events.at(-1);
      page = last && { until: last.position, offset: 1 };
      await pause();
    }
  }
  return names;
}

/** Returns the parents in a removed dependency, or in a deleted flag. */
function parentsIn(before: unknown): readonly string[] {
  const { flag, dependencies = [] } = before as { flag?: string; dependencies?: readonly Dependency[] };
  return flag === undefined ? dependencies.map((dependency) => dependency.flag) : [flag];
}
