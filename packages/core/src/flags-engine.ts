import type { ChangeEngine, SharedEngine } from './changesets/engine.js';
import type { OwnConsumers } from './consumers/consumer-runner.js';
import type { ConsumerEngine } from './consumers/consumers.operations.js';
import type { SharedRequestEngine } from './features/change-requests/engine.js';
import type { RolloutEngine } from './features/rollouts/rollouts.operations.js';
import type { Validators } from './input-schemas.js';
import type { EvaluationEngine } from './replica/evaluation.operations.js';
import type { TokenVerifier } from './tokens/token.js';
import type { ReportEngine } from './usage/report.operations.js';
import type { UsageEngine } from './usage/usage-over-time.operations.js';
import type { UsageWriter } from './usage/usage-writer.js';

/** The engine that all actors share: the kernel, with what each feature adds to it. */
export interface SharedFlagsEngine
  extends SharedEngine,
    EvaluationEngine,
    ReportEngine,
    UsageEngine,
    ConsumerEngine,
    TokenVerifier,
    RolloutEngine,
    SharedRequestEngine {
  readonly lifetime: SharedEngine['lifetime'];
  readonly validate: Validators;
  readonly usageWriter: UsageWriter;
  readonly consumers: OwnConsumers;
  readonly due: SharedEngine['due'];
  readonly gate: SharedRequestEngine['gate'];
}

/** The engine of an actor, with all features. */
export interface FlagsEngine extends SharedFlagsEngine, ChangeEngine {
  readonly validate: Validators;
  readonly gate: SharedRequestEngine['gate'];
}
