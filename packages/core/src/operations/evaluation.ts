import type { EvaluatedVariant, FallbackVariant } from '../api/evaluated.js';
import type {
  ContextualFlags,
  EnvironmentChoice,
  EvaluationOperations,
  EvaluationStatus,
  Impression,
} from '../api/evaluation.js';
import type { EvaluationContext } from '../api/evaluation-context.js';
import { compareCodePoints } from '../code-point-order.js';
import type { Engine } from '../engine/engine.js';
import { explainUnknown } from '../evaluation/explain.js';
import type { Snapshot } from '../evaluation/snapshot.js';
import { OFF } from '../evaluation/variants.js';
import { frozen } from '../frozen.js';
import type { Storage } from '../storage/port.js';
import { requireEnvironment } from './find.js';

/** What is asked on the hot path: nothing here waits, and nothing but `configuration` throws. */
export function evaluationOperations(engine: Engine): EvaluationOperations {
  const { settings } = engine;
  const { state: live, follower, impressions, changes } = engine.live;
  const { standard } = live;

  const snapshotFor = (options: EnvironmentChoice | undefined): Snapshot | undefined =>
    options?.environment === undefined ? standard.snapshot : live.snapshotOf(options.environment);

  return {
    isEnabled(flag, context, options) {
      if (options === undefined) return standard.snapshot.isEnabled(flag, context);
      return snapshotFor(options)?.isEnabled(flag, context, options?.fallback) ?? options?.fallback ?? false;
    },

    getVariant(flag, context, options) {
      if (options === undefined) return standard.snapshot.getVariant(flag, context);
      return snapshotFor(options)?.getVariant(flag, context, options?.fallback) ?? unknownVariant(options?.fallback);
    },

    forContext: (context, options) => pin(snapshotFor(options), context),

    // It shows parts of what is evaluated.
    explain: (flag, context, options) => frozen(snapshotFor(options)?.explain(flag, context) ?? explainUnknown(flag)),

    onImpression: (listener: (impression: Impression) => void) => impressions.add(listener),

    configuration(options) {
      const environment = options?.environment ?? settings.environment;
      requireEnvironment(engine, environment);
      return live.configurationOf(environment) ?? { stamp: 0, flags: [], segments: [] };
    },

    onConfigurationChange: (listener: () => void) => changes.add(listener),

    status: () => withWalBytes(engine.storage, follower.status()),
    refresh: async () => withWalBytes(engine.storage, await follower.refresh()),
  };
}

function withWalBytes(storage: Storage, status: EvaluationStatus): EvaluationStatus {
  const walBytes = storage.walBytes?.();
  return walBytes === undefined ? status : Object.freeze({ ...status, walBytes });
}

/** One snapshot for all answers. Without one, as for an environment that does not exist, there are no flags. */
function pin(snapshot: Snapshot | undefined, context: EvaluationContext): ContextualFlags {
  return {
    isEnabled: (flag, fallback = false) => snapshot?.isEnabled(flag, context, fallback) ?? fallback,
    getVariant: (flag, fallback) => snapshot?.getVariant(flag, context, fallback) ?? unknownVariant(fallback),
    evaluateAll: () =>
      [...(snapshot?.names() ?? [])].sort(compareCodePoints).flatMap((name) => {
        const evaluation = snapshot?.evaluate(name, context);
        const impressionData = snapshot?.definition(name)?.impressionData ?? false;
        return evaluation ? [{ name, ...evaluation, impressionData }] : [];
      }),
  };
}

function unknownVariant(fallback: FallbackVariant | undefined): EvaluatedVariant {
  return fallback ? { ...fallback, feature_enabled: false } : OFF;
}
