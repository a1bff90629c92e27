import { assertEnvironment } from '../../base/assert-environment.js';
import * as compiled from '../../base/compiled-schemas.js';
import { LIMITS } from '../../base/limits.js';
import { paced } from '../../base/paced.js';
import type { JsonSchema } from '../../base/primitives.js';
import { createValidator, invalidInput } from '../../base/validator.js';
import type { StrategyDefinition } from '../../evaluation/definitions.types.js';
import type { EvaluatedVariant, EvaluationContext, FlagExplanation } from '../../evaluation/evaluation.types.js';
import type { Snapshot, StrategyRollout } from '../../evaluation/snapshot.js';
import type { ChangeEngine, DecidedSet } from '../../kernel/changes/change-engine.js';
import type { ApplyOptions, PlannedDocument } from '../../kernel/changes/change-set.types.js';
import {
  applyChanges,
  type GivenChange,
  planDocuments,
  prepareAll,
} from '../../kernel/changes/change-sets.operations.js';
import { toPlannedDocuments } from '../../kernel/changes/planned.js';
import { type Call, call, defineOperations, NO_REFERENCE } from '../../kernel/operation.js';
import type { SegmentState } from '../segments/segment.js';
import { affectedFlags, effectsOf, type PlannedState, type Side, type States, statesOf } from './effects.js';
import { preparePatterns, type Replica, toConfiguration, toSegmentConfiguration } from './environments.js';
import type {
  ChangePlan,
  ChangePreview,
  ContextPreview,
  FlagPreview,
  PreviewBucket,
  PreviewedEvaluation,
  PreviewQuery,
} from './plan.types.js';

/** What plans and previews need beside the kernel. */
export interface EnvironmentEngine extends ChangeEngine {
  readonly replica: Replica;
}

async function plan(engine: EnvironmentEngine, changes: readonly GivenChange[]): Promise<ChangePlan> {
  return planOf(engine, await engine.plan(await prepareAll(engine, changes)));
}

/** Returns a decided set as a plan. */
export async function planOf(engine: EnvironmentEngine, decided: DecidedSet): Promise<ChangePlan> {
  const documents = toPlannedDocuments(engine.registry, decided);
  const effects = await effectsOf(engine, documents);
  return { documents, effects, approval: await engine.rules.findApproval(decided) };
}

/** Contexts may have any members. */
export const previewQuery: JsonSchema = {
  type: 'object',
  properties: {
    environment: { type: 'string' },
    contexts: { type: 'array', maxItems: LIMITS.previewContexts, items: { type: 'object' } },
  },
  required: ['environment', 'contexts'],
};

/** Validates a query from an untyped caller. */
const validateQuery = createValidator<PreviewQuery>(compiled.previewQuery);

/** @param plan is called when the query is valid */
export async function previewPlanned(
  engine: EnvironmentEngine,
  query: PreviewQuery,
  plan: () => Promise<readonly PlannedDocument[]>,
): Promise<ChangePreview> {
  const { environment, contexts } = validateQuery(query);
  const { signal } = query;
  assertEnvironment(engine, environment);
  return previewDocuments(engine, await plan(), { environment, contexts, signal });
}

/**
 * Evaluates the contexts before and after planned changes. Compiles only the affected flags and their
 * parents. Works in time slices.
 */
async function previewDocuments(
  engine: EnvironmentEngine,
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

interface DraftOptions {
  readonly states: States;
  readonly names: readonly string[];
  readonly environment: string;
  readonly side: Side;
  readonly random: () => number;
  readonly signal: AbortSignal | undefined;
}

/** Compiles one side: the affected flags and their parents, with stored or planned segments. */
async function createDraft(
  engine: EnvironmentEngine,
  { states, names, environment, side, random, signal }: DraftOptions,
) {
  const parents = names.flatMap((name) => states.flag(name, side)?.dependencies.map(({ flag }) => flag) ?? []);
  const flags = new Map(
    [...names, ...parents].flatMap((name) => {
      const flag = states.flag(name, side);
      return flag ? [[name, flag]] : [];
    }),
  );
  const segments = new Map(
    states.changedSegments.flatMap((document) => {
      const state = document[side] as SegmentState | null;
      return state ? [[document.id, state]] : [];
    }),
  );
  await preparePatterns({ flags, segments });
  let draft = (engine.replica.state.snapshotOf(environment) as Snapshot).draft(random);
  for await (const { id } of paced(states.changedSegments, { signal })) {
    const state = segments.get(id);
    draft = draft.with(state ? { segments: [toSegmentConfiguration(state)] } : { removedSegments: [Number(id)] });
  }
  for await (const flag of paced(flags.values(), { signal })) {
    draft = draft.with({ flags: [toConfiguration(flag, environment)] });
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

type Changes = readonly GivenChange[];

/** The operations of change sets. */
export const changeSetOperations = defineOperations({
  apply: call({
    ref: NO_REFERENCE,
    run: (engine: EnvironmentEngine, { input, context }: Call<undefined, Changes, ApplyOptions | undefined>) =>
      applyChanges(engine, input, context),
  }),
  plan: call({
    ref: NO_REFERENCE,
    run: (engine: EnvironmentEngine, { input }: Call<undefined, Changes>) => plan(engine, input),
  }),
  preview: call({
    ref: NO_REFERENCE,
    run: (engine: EnvironmentEngine, { input, context }: Call<undefined, Changes, PreviewQuery>) =>
      previewPlanned(engine, context, () => planDocuments(engine, input)),
  }),
});
