import type { SharedRequestEngine } from './features/change-requests/engine.js';
import type { OwnConsumers } from './features/consumers/consumer-runner.js';
import type { ConsumerEngine } from './features/consumers/consumers.operations.js';
import type { EvaluationEngine } from './features/environments/replica-evaluation.js';
import type { FlagEngine } from './features/flags/change-flag.js';
import type { RolloutEngine } from './features/rollouts/rollouts.operations.js';
import type { TokenVerifier } from './features/tokens/token.js';
import type { ReportEngine } from './features/usage/report.operations.js';
import type { UsageEngine } from './features/usage/usage-over-time.operations.js';
import type { UsageWriter } from './features/usage/usage-writer.js';
import type { Validators } from './input-schemas.js';
import type { ChangeEngine, SharedEngine } from './kernel/changes/change-engine.js';

/** The engine that all actors share: the kernel, with what each feature adds to it. */
export interface SharedFlagsEngine
  extends SharedEngine,
    EvaluationEngine,
    ReportEngine,
    UsageEngine,
    ConsumerEngine,
    TokenVerifier,
    RolloutEngine,
    Pick<FlagEngine, 'children'>,
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
