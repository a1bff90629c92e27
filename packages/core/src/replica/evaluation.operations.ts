import { LRUCache } from 'lru-cache';
import { compareCodePoints } from '../base/collections.js';
import { throwEnvironmentNotFound } from '../base/environments.js';
import { deepFreeze } from '../base/json.js';
import { pause } from '../base/paced.js';
import { assertOptions, assertReference } from '../base/validator.js';
import type { Engine } from '../engine/engine.js';
import { EVALUATE_PACED, type PinnedFlags } from '../evaluation/evaluate-paced.js';
import type {
  ConfigurationChange,
  ContextualFlags,
  EnvironmentChoice,
  EnvironmentConfiguration,
  EvaluatedFlag,
  EvaluatedVariant,
  EvaluationContext,
  EvaluationOperations,
  EvaluationStatus,
  Impression,
  PayloadReader,
} from '../evaluation/evaluation.types.js';
import type { Snapshot } from '../evaluation/snapshot.js';
import type { UsageWriter } from '../usage/usage-writer.js';
import type { Replica } from './replica.js';

/** What evaluation needs beside the rest of the engine. */
export interface EvaluationEngine extends Engine {
  readonly replica: Replica;
  readonly usageWriter: Pick<UsageWriter, 'dropped'>;
  readonly payloads: PayloadReader;
}

/**
 * Creates the evaluation operations. They throw only for an unknown environment, and for options that are not an object.
 */
export function evaluationOperations(engine: EvaluationEngine): BoundEvaluation {
  const { settings } = engine;
  const { state: live, documents, poller, impressions, changes, problems } = engine.replica;
  const { standard } = live;

  function describe(status: EvaluationStatus): EvaluationStatus {
    const walBytes = engine.storage.walBytes?.();
    const { names, reports, usage } = engine.usageWriter.dropped;
    const hasDropped = names + reports + usage > 0;
    return Object.freeze({
      ...status,
      ...(walBytes !== undefined && { walBytes }),
      ...(hasDropped && { dropped: { names, reports, ...(usage > 0 && { usage }) } }),
    });
  }

  function snapshotFor(options: EnvironmentChoice | null | undefined): Snapshot {
    if (options !== null) assertOptions('an evaluation', options);
    const environment = options?.environment;
    if (environment === undefined) return standard.snapshot;
    return live.snapshotOf(environment) ?? throwEnvironmentNotFound(engine, environment);
  }

  function configuration(options: EnvironmentChoice | undefined): EnvironmentConfiguration {
    const environment = options?.environment ?? settings.environment;
    return live.configurationOf(environment) ?? throwEnvironmentNotFound(engine, environment);
  }

  function readPayload(flag: string, variant: EvaluatedVariant, fallback: unknown): unknown {
    const reading = engine.payloads.read(flag, variant);
    if (reading === undefined) return fallback;
    if (reading.issue === undefined) return reading.value;
    problems.report({ code: 'invalid_payload', flag, message: reading.issue });
    return fallback;
  }

  function forContext(context: EvaluationContext, options?: EnvironmentChoice): ContextualFlags {
    return pin(snapshotFor(options), context, readPayload);
  }

  return {
    isEnabled(flag, context, options) {
      if (options === undefined) return standard.snapshot.isEnabled(flag, context);
      return snapshotFor(options).isEnabled(flag, context, options?.fallback);
    },

    getVariant(flag, context, options) {
      if (options === undefined) return standard.snapshot.getVariant(flag, context);
      return snapshotFor(options).getVariant(flag, context, options?.fallback);
    },

    getPayload: (flag, context, options) =>
      readPayload(flag, snapshotFor(options).getVariant(flag, context), options?.fallback),

    forContext,
    evaluateAll: (context, options) => forContext(context, options).evaluateAll(),

    // The explanation exposes compiled definitions. Freezing it protects them from the caller.
    explain: (flag, context, options) => deepFreeze(snapshotFor(options).explain(flag, context)),

    recentContexts: () => [],

    onImpression: (listener: (impression: Impression) => void) => impressions.add(listener),

    configuration,

    projectOf(ref) {
      assertReference('projectOf', ['flag'], ref);
      if ('flag' in ref) return documents.flags.get(ref.flag)?.project;
      const segment = documents.segments.get(`${ref.segment}`);
      return segment && (segment.project ?? null);
    },

    onConfigurationChange: (listener: (change: ConfigurationChange) => void) => changes.add(listener),

    status: () => describe(poller.status()),
    refresh: async () => describe(await poller.refresh()),
  };
}

/** The evaluation operations without `evaluator`. */
export type BoundEvaluation = Omit<EvaluationOperations, 'evaluator'>;

/** Adds `evaluator`, which has only the evaluation operations. */
export function withEvaluator(operations: BoundEvaluation): EvaluationOperations {
  const { isEnabled, getVariant, getPayload, forContext, explain, evaluateAll } = operations;
  const evaluator = Object.freeze({ isEnabled, getVariant, getPayload, forContext, explain, evaluateAll });
  return { ...operations, evaluator };
}

function fallbackIn<Fallback>(options: { readonly fallback?: Fallback } | null | undefined): Fallback | undefined {
  if (options !== null) assertOptions('an evaluation', options);
  return options?.fallback;
}

type ReadPayload = (flag: string, variant: EvaluatedVariant, fallback: unknown) => unknown;

/** Binds evaluation to one snapshot and one context. */
function pin(snapshot: Snapshot, context: EvaluationContext, readPayload: ReadPayload): PinnedFlags {
  return {
    isEnabled: (flag, options) => snapshot.isEnabled(flag, context, fallbackIn(options)),
    getVariant: (flag, options) => snapshot.getVariant(flag, context, fallbackIn(options)),
    getPayload: (flag, options) => readPayload(flag, snapshot.getVariant(flag, context), fallbackIn(options)),
    evaluateAll: () =>
      [...snapshot.names()].sort(compareCodePoints).flatMap((name) => evaluateOne(snapshot, name, context)),
    async *[EVALUATE_PACED]({ names, signal, isCounted = false }) {
      const evaluateFlag = isCounted ? countOne : evaluateOne;
      let page: EvaluatedFlag[] = [];
      for (const name of names ?? [...snapshot.names()].sort(compareCodePoints)) {
        await pause(signal);
        page.push(...evaluateFlag(snapshot, name, context));
        if (page.length < EVALUATED_PER_PAGE) continue;
        yield page;
        page = [];
      }
      yield page;
    },
  };
}

/** Large enough that a page costs little, and small enough that few results are in memory. */
const EVALUATED_PER_PAGE = 50;

function evaluateOne(snapshot: Snapshot, name: string, context: EvaluationContext): EvaluatedFlag[] {
  const evaluation = snapshot.evaluate(name, context);
  const impressionData = snapshot.definition(name)?.impressionData ?? false;
  return evaluation ? [{ name, ...evaluation, impressionData }] : [];
}

function countOne(snapshot: Snapshot, name: string, context: EvaluationContext): EvaluatedFlag[] {
  const definition = snapshot.definition(name);
  if (!definition) return [];
  const variant = snapshot.getVariant(name, context);
  return [{ name, enabled: variant.flagEnabled, variant, impressionData: definition.impressionData ?? false }];
}

/** A context with longer JSON is not kept, so that 1,000 of them need about 2 MB. */
const MAX_LENGTH = 1_000;
/** A context with more properties is not kept: copying them would take too long. */
const MAX_PROPERTIES = 50;

/**
 * Returns operations that keep the contexts they evaluate, each once, the newest `limit` of them. They stay in the
 * memory of the process.
 */
export function rememberContexts(operations: BoundEvaluation, limit: number): BoundEvaluation {
  const texts = new LRUCache<string, true>({ max: limit });
  let last: unknown;

  function remember(context: EvaluationContext | undefined): void {
    if (context === last) return;
    last = context;
    const text = textOf(context);
    if (text !== undefined) texts.set(text, true);
  }

  return {
    ...operations,
    isEnabled(flag, context, options) {
      remember(context);
      return operations.isEnabled(flag, context, options);
    },
    getVariant(flag, context, options) {
      remember(context);
      return operations.getVariant(flag, context, options);
    },
    getPayload(flag, context, options) {
      remember(context);
      return operations.getPayload(flag, context, options);
    },
    forContext(context, options) {
      remember(context);
      return operations.forContext(context, options);
    },
    evaluateAll(context, options) {
      remember(context);
      return operations.evaluateAll(context, options);
    },
    // The cache lists the newest first.
    recentContexts: () => [...texts.keys()].map((text): EvaluationContext => JSON.parse(text)),
  };
}

/** Returns a context as JSON, without its time. Undefined for one without fields, and for one that is too large. */
function textOf(context: EvaluationContext | undefined): string | undefined {
  try {
    const { userId, sessionId, remoteAddress, environment, appName, properties = {} } = context ?? {};
    let count = 0;
    for (const _ in properties) if (++count > MAX_PROPERTIES) return undefined;
    const fields = onlyScalars({ userId, sessionId, remoteAddress, environment, appName });
    const own = onlyScalars(properties);
    const kept = Object.keys(own).length > 0 ? { ...fields, properties: own } : fields;
    const text = JSON.stringify(kept);
    return text.length > MAX_LENGTH || text === '{}' ? undefined : text;
  } catch {
    // A context may contain anything, even getters that throw.
    return undefined;
  }
}

function onlyScalars(fields: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value)),
  );
}
