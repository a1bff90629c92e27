import { compareCodePoints } from '../base/collections.js';
import { assertEnvironment } from '../base/environments.js';
import { LIMITS } from '../base/limits.js';
import { paced } from '../base/paced.js';
import { createValidator, invalidInput } from '../base/validator.js';
import type { StrategyDefinition } from '../evaluation/definitions.types.js';
import type { EvaluatedVariant, EvaluationContext, FlagExplanation } from '../evaluation/evaluation.types.js';
import type { Snapshot, StrategyRollout } from '../evaluation/snapshot.js';
import { createComparison, type FlagEffect, isSameForClients } from '../flags/effect.decide.js';
import { environmentOf, type FlagState } from '../flags/flag.js';
import { flagDocuments } from '../flags/flag.kind.js';
import { toConfiguration, toSegmentConfiguration } from '../replica/environment.js';
import type { SegmentState } from '../segments/segment.js';
import { segmentDocuments } from '../segments/segment.kind.js';
import type {
  Change,
  ChangePlan,
  ChangePreview,
  ContextPreview,
  FlagPreview,
  PlannedDocument,
  PreviewBucket,
  PreviewedEvaluation,
  PreviewQuery,
} from './change-set.types.js';
import { planDocuments } from './change-sets.operations.js';
import type { ChangeEngine } from './engine.js';

export async function plan(engine: ChangeEngine, changes: readonly Change<string>[]): Promise<ChangePlan> {
  return withEffects(engine, await planDocuments(engine, changes));
}

export async function withEffects(engine: ChangeEngine, documents: readonly PlannedDocument[]): Promise<ChangePlan> {
  return { documents, effects: await effectsOf(engine, documents) };
}

/** Returns the effects of planned documents: the changes that clients of each environment would see. */
export async function effectsOf(
  engine: ChangeEngine,
  documents: readonly PlannedState[],
): Promise<readonly FlagEffect[]> {
  if (!documents.some(({ kind }) => KINDS.has(kind))) return [];
  // The plan has not read parents, children and uses of segments: other processes may have changed them.
  const status = await engine.replica.poller.refresh();
  if (status.state === 'stale') throw status.error;
  const states = statesOf(engine, documents);
  const names = [...(await affectedFlags(states))].sort(compareCodePoints);
  const flags = names.map((name) => ({ name, before: states.flag(name, 'before'), after: states.flag(name, 'after') }));
  const isSameSegment = await compareSegments(engine, states);
  const sideOf = (side: Side) => ({ flag: (name: string) => states.flag(name, side) });
  const sides = { before: sideOf('before'), after: sideOf('after') };
  const effects: FlagEffect[] = [];
  for (const environment of await environmentsOf(states, flags)) {
    const compare = createComparison(environment, sides, isSameSegment);
    for await (const { name, before, after } of paced(flags)) {
      // A flag that moves becomes absent in one project, and appears in the other.
      for (const project of new Set([before, after].flatMap((state) => state?.project ?? []))) {
        const within = (state: FlagState | undefined) => (state?.project === project ? state : undefined);
        const effect = compare({ before: within(before), after: within(after) });
        if (effect) effects.push({ project, flag: name, environment, ...effect });
      }
    }
  }
  return effects;
}

/** The kinds of documents that clients can see. */
const KINDS: ReadonlySet<string> = new Set([flagDocuments.kind, segmentDocuments.kind]);

/** A flag on both sides; undefined where it is absent or archived. */
interface AffectedFlag {
  readonly name: string;
  readonly before: FlagState | undefined;
  readonly after: FlagState | undefined;
}

/**
 * Returns the environments that stored flags configure, in code-point order. The settings of this node may lack some of
 * them.
 */
async function environmentsOf(states: States, flags: readonly AffectedFlag[]): Promise<readonly string[]> {
  const names = new Set<string>();
  const concerned = flags.flatMap(({ before, after }) => [before ?? [], after ?? []].flat());
  for await (const { archived, environments = [] } of paced([...concerned, ...states.stored.values()])) {
    if (archived) continue;
    for (const { name, enabled, strategies } of environments) if (enabled || strategies.length > 0) names.add(name);
  }
  return [...names].sort(compareCodePoints);
}

/** Compares the changed segments in slices, each once: they may be large, and many strategies may use them. */
async function compareSegments(
  { replica }: ChangeEngine,
  { changedSegments }: States,
): Promise<(before: number, after: number) => boolean> {
  const changed = new Map(changedSegments.map((one) => [Number(one.id), one]));
  const segmentOf = (id: number, side: Side) => {
    const planned = changed.get(id);
    return planned ? (planned[side] as SegmentState | null) : replica.documents.segments.get(`${id}`);
  };
  const isSame = (before: number, after: number) =>
    isSameForClients(segmentOf(before, 'before') ?? undefined, segmentOf(after, 'after') ?? undefined);
  const unchanged = new Map<number, boolean>();
  for await (const id of paced(changed.keys())) unchanged.set(id, isSame(id, id));
  return (before, after) => (before === after ? (unchanged.get(before) ?? true) : isSame(before, after));
}

/** Validates a query from an untyped caller. Contexts may have any members. */
const validateQuery = createValidator<PreviewQuery>({
  type: 'object',
  properties: {
    environment: { type: 'string' },
    contexts: { type: 'array', maxItems: LIMITS.previewContexts, items: { type: 'object' } },
  },
  required: ['environment', 'contexts'],
});

export function preview(
  engine: ChangeEngine,
  changes: readonly Change<string>[],
  query: PreviewQuery,
): Promise<ChangePreview> {
  return previewPlanned(engine, query, () => planDocuments(engine, changes));
}

/** @param plan is called when the query is valid */
export async function previewPlanned(
  engine: ChangeEngine,
  query: PreviewQuery,
  plan: () => Promise<readonly PlannedDocument[]>,
): Promise<ChangePreview> {
  const { environment, contexts } = validateQuery(query);
  const { signal } = query;
  assertEnvironment(engine, environment);
  return previewDocuments(engine, await plan(), { environment, contexts, signal });
}

/** A document before or after the change set; null if there is none. */
type Side = 'before' | 'after';
export type PlannedState = Pick<PlannedDocument, 'kind' | 'id' | Side>;

/**
 * Evaluates the contexts before and after planned changes. Compiles only the affected flags and their
 * parents. Works in time slices.
 */
async function previewDocuments(
  engine: ChangeEngine,
  documents: readonly PlannedState[],
  { environment, contexts, signal }: PreviewQuery,
): Promise<ChangePreview> {
  const states = statesOf(engine, documents);
  const names = await affectedFlags(states, { environment, signal });
  const random = createSharedRandom();
  const parts = { states, names, environment, random: random.next, signal };
  const before = await createDraft(engine, { ...parts, side: 'before' });
  const after = await createDraft(engine, { ...parts, side: 'after' });
  assertFewResults(names, after, contexts);
  const flags: FlagPreview[] = [];
  for (const name of names) {
    const project = states.projectOf(name);
    const share = createResultCache();
    const previews: ContextPreview[] = [];
    for await (const [index, context] of paced(contexts.entries(), { signal })) {
      random.begin(index);
      const earlier = share.evaluation(before.explain(name, context));
      random.begin(index);
      previews.push({
        before: earlier,
        after: share.evaluation(after.explain(name, context)),
        buckets: after.rollouts(name, context).map(share.bucket),
      });
    }
    flags.push({
      project,
      flag: name,
      before: { enabled: previews.filter((one) => one.before.enabled).length },
      after: { enabled: previews.filter((one) => one.after.enabled).length },
      contexts: previews,
    });
  }
  return { flags };
}

/** The flags and segments on both sides: planned documents, and the replica for all others. */
interface States {
  readonly changedFlags: ReadonlySet<string>;
  readonly changedSegments: readonly PlannedState[];
  /** Flags of the replica, archived ones too. */
  readonly stored: ReadonlyMap<string, FlagState>;
  /** Returns a flag that is not archived. */
  flag(name: string, side: Side): FlagState | undefined;
  /** Returns the planned project of a flag, archived or not. */
  projectOf(name: string): string;
}

function statesOf({ replica }: ChangeEngine, documents: readonly PlannedState[]): States {
  const { flags: stored } = replica.documents;
  // A flag that the set creates and deletes again is on neither side.
  const flags = documents.filter(({ kind, before, after }) => kind === flagDocuments.kind && (before ?? after));
  const planned = new Map(flags.map((one) => [one.id, one]));
  return {
    stored,
    changedFlags: new Set(planned.keys()),
    changedSegments: documents.filter(({ kind }) => kind === segmentDocuments.kind),
    flag(name, side) {
      const document = planned.get(name);
      const state = document ? (document[side] as FlagState | null) : stored.get(name);
      return state?.archived ? undefined : (state ?? undefined);
    },
    projectOf(name) {
      const document = planned.get(name);
      const state = document ? ((document.after ?? document.before) as FlagState) : stored.get(name);
      return state?.project ?? '';
    },
  };
}

/**
 * Returns the changed flags, the flags that use a changed segment, and the flags that depend on any of these,
 * transitively.
 *
 * @param environment where the flags use the segment; any environment if absent
 */
async function affectedFlags(
  states: States,
  { environment, signal }: Partial<Pick<DraftOptions, 'environment' | 'signal'>> = {},
): Promise<readonly string[]> {
  const segments = new Set(states.changedSegments.map(({ id }) => Number(id)));
  const affected = new Set(states.changedFlags);
  const children = new Map<string, string[]>();
  for await (const [name, flag] of paced([...states.stored], { signal })) {
    if (flag.archived) continue;
    for (const { flag: parent } of flag.dependencies) {
      const known = children.get(parent);
      if (known) known.push(name);
      else children.set(parent, [name]);
    }
    if (segments.size === 0) continue;
    const places = environment === undefined ? flag.environments : [environmentOf(flag, environment)];
    const strategies = places.flatMap((place) => place.strategies);
    if (strategies.some((strategy) => strategy.segments?.some((id) => segments.has(id)))) affected.add(name);
  }
  // A set visits the items that are added while it is iterated.
  for (const name of affected) for (const child of children.get(name) ?? []) affected.add(child);
  return [...affected];
}

interface DraftOptions {
  readonly states: States;
  readonly names: readonly string[];
  readonly environment: string;
  readonly side: Side;
  readonly random: () => number;
  readonly signal: AbortSignal | undefined;
}

/** Compiles one side: the affected flags and their parents, with stored or planned segments. */
async function createDraft(engine: ChangeEngine, { states, names, environment, side, random, signal }: DraftOptions) {
  let draft = (engine.replica.state.snapshotOf(environment) as Snapshot).draft(random);
  for await (const document of paced(states.changedSegments, { signal })) {
    const state = document[side] as SegmentState | null;
    draft = draft.with(
      state ? { segments: [toSegmentConfiguration(state)] } : { removedSegments: [Number(document.id)] },
    );
  }
  const parents = names.flatMap((name) => states.flag(name, side)?.dependencies.map(({ flag }) => flag) ?? []);
  for await (const name of paced(new Set([...names, ...parents]), { signal })) {
    const flag = states.flag(name, side);
    if (flag) draft = draft.with({ flags: [toConfiguration(flag, environment)] });
  }
  return draft;
}

/** Throws `invalid_input` if the contexts and flags would have too many results for one answer. */
function assertFewResults(names: readonly string[], after: Snapshot, contexts: readonly EvaluationContext[]): void {
  const perContext = names.reduce((sum, name) => sum + 1 + after.rollouts(name, {}).length, 0);
  const most = Math.floor(LIMITS.previewResults / perContext);
  if (contexts.length <= most) return;
  const message = `must have at most ${most} items, because the changes concern ${names.length} flags`;
  throw invalidInput([{ message, path: '/contexts' }]);
}

/** Shares equal results among the contexts of a flag: a preview of many contexts keeps few objects. */
function createResultCache() {
  const evaluations = new Map<EvaluatedVariant, Map<string, PreviewedEvaluation>>();
  const buckets = new Map<StrategyDefinition, Map<number | null, PreviewBucket>>();
  return {
    /** The compiled flag has one object for each variant. The reason determines whether the flag is on. */
    evaluation({ enabled, variant, reason }: FlagExplanation): PreviewedEvaluation {
      const ofVariant = getOrCreate(evaluations, variant, () => new Map<string, PreviewedEvaluation>());
      return getOrCreate(ofVariant, reason, () => ({ enabled, variant, reason }));
    },
    bucket({ definition, rollout: { id, bucket, rollout } }: StrategyRollout): PreviewBucket {
      const ofStrategy = getOrCreate(buckets, definition, () => new Map<number | null, PreviewBucket>());
      const drawn = id === undefined ? null : (bucket ?? null);
      // The draft compiles stored strategies, which have ids.
      const strategy = (definition as { readonly id?: string }).id ?? '';
      return getOrCreate(ofStrategy, drawn, () => ({ strategy, bucket: drawn, rollout }));
    },
  };
}

function getOrCreate<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const created = create();
  map.set(key, created);
  return created;
}

/** Creates random numbers that are the same on both sides, so that random numbers alone change no result. */
function createSharedRandom() {
  let state = 0;
  return {
    /** Begins the numbers of a context. */
    begin(index: number): void {
      state = Math.imul(index + 1, 0x9e3779b1);
    },
    /** Returns the next number (SplitMix32). */
    next(): number {
      state = (state + 0x9e3779b9) | 0;
      let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
      mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
      return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
    },
  };
}
