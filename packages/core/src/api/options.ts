import type { Awaitable } from '../awaitable.js';
import type { MetricsStorage } from '../metrics/port.js';
import type { Storage } from '../storage/port.js';
import type { CustomStrategy } from './custom-strategy.js';
import type { FlagType } from './engine.js';
import type { EvaluationProblem } from './evaluation-problem.js';
import type { Role } from './members.js';
import type { TextEncoding } from './text-encoding.js';

/** What `createFlags` takes. Only the storage is required. */
export interface FlagsOptions {
  /** Where documents and events are kept: `memoryStorage()`, `sqliteStorage(path)`, or your own. */
  readonly storage: Awaitable<Storage>;
  /** Where metrics are kept; the storage's own place when absent, else memory. */
  readonly metrics?: MetricsStorage;
  /** In display order; `development` and `production` when absent. `displayName` is the name when absent. */
  readonly environments?: readonly { readonly name: string; readonly displayName?: string }[];
  /** Where flags are evaluated when no environment is named; `production` when absent, or else the first. */
  readonly environment?: string;
  /** Under which name evaluations in this process are counted; `default` when absent. */
  readonly appName?: string;
  /** Which instance of the application this is; the host's name and the process id when absent. */
  readonly instanceId?: string;
  /** How often, in milliseconds, counted evaluations are recorded; 10,000 when absent, 0: only by `close()`. */
  readonly usageInterval?: number;
  /** Strategies of the host's own. */
  readonly strategies?: readonly CustomStrategy[];
  /** How ids that are not ASCII are hashed; `utf8` when absent. */
  readonly idEncoding?: TextEncoding;
  /** Told once of each thing that is wrong with a flag (an unknown strategy, a missing segment, …); a process warning when absent. */
  readonly onProblem?: (problem: EvaluationProblem) => void;
  /** One must be named `owner`; `4 owner` and `5 member` when absent. */
  readonly roles?: readonly Role[];
  /** `release` (40 days), `experiment` (40), `operational` (7), `kill-switch`, `permission` when absent. */
  readonly flagTypes?: readonly FlagType[];
  /** Tells whether the host knows a user; every positive integer is a user when absent. */
  readonly isUser?: (userId: number) => Awaitable<boolean>;
  /** Who changes are attributed to when nobody is named; `system` when absent. */
  readonly actor?: string;
  /** The clock; the system's when absent. */
  readonly now?: () => Date;
  /** Makes strategy ids; random UUIDs (version 4) when absent. */
  readonly newId?: () => string;
  /**
   * How often, in milliseconds, to look for events of other processes on the same storage; 1000 when absent, 0: never.
   * The timer does not keep the process alive.
   */
  readonly pollInterval?: number;
  /** How long, in milliseconds, applications that are not seen any more are remembered; 30 days when absent. */
  readonly applicationRetention?: number;
  /**
   * How many bytes all flags (archived ones too), segments and projects may take together, as JSON in UTF-8. A change that would
   * exceed it fails with `state_too_large`; switching off, archiving and deleting never do. No limit when absent. Each process
   * counts what it knows: several can exceed the limit by what they commit between two polls.
   */
  readonly stateLimit?: number;
  /** Told of faults that no caller waits for: a listener that throws, a poll that fails. A process warning when absent. */
  readonly onError?: (error: unknown) => void;
}
