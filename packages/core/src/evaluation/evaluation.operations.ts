import type { Engine } from '../changes/engine.js';
import { compareCodePoints } from '../collections.js';
import { assertEnvironment, throwEnvironmentNotFound } from '../flags/flag-documents.js';
import type { Storage } from '../storage/port.js';
import { sortInSlices, timeSlice } from '../time-slice.js';
import { deepFreeze } from '../validation/json.js';
import type { EvaluatedVariant, EvaluationContext } from './evaluated.types.js';
import type {
  ContextualFlags,
  EnvironmentChoice,
  EvaluatedFlag,
  EvaluationOperations,
  EvaluationStatus,
  Impression,
} from './evaluation.types.js';
import type { Snapshot } from './snapshot.js';

/**
 * Creates the evaluation operations. They throw only for an unknown environment. Only `refresh` and `loadConfiguration`
 * are asynchronous.
 */
export function evaluationOperations(engine: Engine): EvaluationOperations {
  const { settings } = engine;
  const { state: live, poller, impressions, changes, problems } = engine.replica;
  const { standard } = live;

  const withDropped = (status: EvaluationStatus): EvaluationStatus => {
    const { names, reports, usage = 0 } = engine.metrics.dropped;
    if (names + reports + usage === 0) return status;
    return Object.freeze({ ...status, dropped: { names, reports, ...(usage > 0 && { usage }) } });
  };
  const describe = (status: EvaluationStatus) => withDropped(withWalBytes(engine.storage, status));

  function snapshotFor(options: EnvironmentChoice | null | undefined): Snapshot {
    const environment = options?.environment;
    if (environment === undefined) return standard.snapshot;
    return live.snapshotOf(environment) ?? throwEnvironmentNotFound(engine, environment);
  }

  function readPayload(flag: string, variant: EvaluatedVariant, fallback: unknown): unknown {
    const reading = engine.payloads.read(flag, variant);
    if (reading === undefined) return fallback;
    if (reading.issue === undefined) return reading.value;
    problems.report({ code: 'invalid_payload', flag, message: reading.issue });
    return fallback;
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

    forContext: (context, options) => pin(snapshotFor(options), context, readPayload),

    // The explanation exposes compiled definitions. Freezing it protects them from the caller.
    explain: (flag, context, options) => deepFreeze(snapshotFor(options).explain(flag, context)),

    recentContexts: () => [],

    onImpression: (listener: (impression: Impression) => void) => impressions.add(listener),

    configuration(options) {
      const environment = options?.environment ?? settings.environment;
      assertEnvironment(engine, environment);
      return live.configurationOf(environment) ?? { version: 0, flags: [], segments: [] };
    },

    async loadConfiguration(options) {
      const environment = options?.environment ?? settings.environment;
      assertEnvironment(engine, environment);
      return (await live.loadConfiguration(environment)) ?? { version: 0, flags: [], segments: [] };
    },

    onConfigurationChange: (listener: () => void) => changes.add(listener),

    status: () => describe(poller.status()),
    refresh: async () => describe(await poller.refresh()),
  };
}

function withWalBytes(storage: Storage, status: EvaluationStatus): EvaluationStatus {
  const walBytes = storage.walBytes?.();
  return walBytes === undefined ? status : Object.freeze({ ...status, walBytes });
}

type ReadPayload = (flag: string, variant: EvaluatedVariant, fallback: unknown) => unknown;

/** Binds evaluation to one snapshot and one context. */
function pin(snapshot: Snapshot, context: EvaluationContext, readPayload: ReadPayload): ContextualFlags {
  return {
    isEnabled: (flag, fallback) => snapshot.isEnabled(flag, context, fallback),
    getVariant: (flag, fallback) => snapshot.getVariant(flag, context, fallback),
    getPayload: (flag, fallback) => readPayload(flag, snapshot.getVariant(flag, context), fallback),
    evaluateAll: () =>
      [...snapshot.names()].sort(compareCodePoints).flatMap((name) => evaluateOne(snapshot, name, context)),
    async evaluateAllAsync() {
      const evaluated: EvaluatedFlag[] = [];
      for (const name of await sortInSlices([...snapshot.names()], compareCodePoints)) {
        if (timeSlice.isOver()) await timeSlice.next();
        evaluated.push(...evaluateOne(snapshot, name, context));
      }
      return evaluated;
    },
  };
}

function evaluateOne(snapshot: Snapshot, name: string, context: EvaluationContext): EvaluatedFlag[] {
  const evaluation = snapshot.evaluate(name, context);
  const impressionData = snapshot.definition(name)?.impressionData ?? false;
  return evaluation ? [{ name, ...evaluation, impressionData }] : [];
}
