import { LIMITS } from '../base/limits.js';
import { paced } from '../base/paced.js';
import { createValidator, invalidInput } from '../base/validator.js';
import type { StrategyDefinition } from '../evaluation/definitions.types.js';
import type { EvaluatedVariant, EvaluationContext, FlagExplanation } from '../evaluation/evaluated.types.js';
import type { Snapshot } from '../evaluation/snapshot.js';
import type { StrategyRollout } from '../evaluation/snapshot.types.js';
import { assertEnvironment, environmentOf, type FlagState, flagDocuments } from '../flags/flag.js';
import { toConfiguration, toSegmentDefinition } from '../replica/environment.js';
import { type SegmentState, segmentDocuments } from '../segments/segment.js';
import type {
  Change,
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

/** Validates a query from an untyped caller. Contexts may have any members. */
const validateQuery = createValidator<PreviewQuery>({
  type: 'object',
  properties: {
    environment: { type: 'string' },
    contexts: { type: 'array', maxItems: LIMITS.previewContexts, items: { type: 'object' } },
  },
  required: ['environment', 'contexts'],
});

export async function preview(
  engine: ChangeEngine,
  changes: readonly Change[],
  query: PreviewQuery,
): Promise<ChangePreview> {
  const { environment, contexts } = validateQuery(query);
  const { signal } = query;
  assertEnvironment(engine, environment);
  return previewDocuments(engine, await planDocuments(engine, changes), { environment, contexts, signal });
}

/** A document before or after the change set; null if there is none. */
export type Side = 'before' | 'after';
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
export interface States {
  readonly changedFlags: ReadonlySet<string>;
  readonly changedSegments: readonly PlannedState[];
  /** Flags of the replica, archived ones too. */
  readonly stored: ReadonlyMap<string, FlagState>;
  /** Returns a flag that is not archived. */
  flag(name: string, side: Side): FlagState | undefined;
  /** Returns the planned project of a flag, archived or not. */
  projectOf(name: string): string;
}

export function statesOf({ replica }: ChangeEngine, documents: readonly PlannedState[]): States {
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
export async function affectedFlags(
  states: States,
  { environment, signal }: Partial<Pick<DraftOptions, 'environment' | 'signal'>> = {},
): Promise<readonly string[]> {
  const segments = new Set(states.changedSegments.map(({ id }) => Number(id)));
  const affected = new Set(states.changedFlags);
  const children = new Map<string, string[]>();
  for await (const [name, flag] of paced([...states.stored], { signal })) {
    if (flag.archived) continue;
    for (const { flag: parent } of flag.dependencies ?? []) {
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
    draft = draft.with(state ? { segments: [toSegmentDefinition(state)] } : { removedSegments: [Number(document.id)] });
  }
  const parents = names.flatMap((name) => states.flag(name, side)?.dependencies?.map(({ flag }) => flag) ?? []);
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
