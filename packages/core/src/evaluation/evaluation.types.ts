import type { Segment } from '../segments/segment.types.js';
import type { DroppedMetrics } from '../storage/metrics-port.js';
import type { FlagDefinition } from './definitions.types.js';
import type {
  EvaluatedVariant,
  EvaluationContext,
  FallbackVariant,
  Impression as SnapshotImpression,
} from './evaluated.types.js';
import type { FlagExplanation } from './explanation.types.js';

export interface EnvironmentChoice {
  /** The instance's default environment when absent. */
  readonly environment?: string;
}

export interface EvaluationOptions extends EnvironmentChoice {
  /** The answer for a flag that does not exist, false when absent; never for a flag that is off. */
  readonly fallback?: boolean;
}

export interface VariantOptions extends EnvironmentChoice {
  /** The answer for a flag that does not exist; the disabled variant when absent. */
  readonly fallback?: FallbackVariant;
}

/** One flag's answer, as {@link ContextualFlags.evaluateAll} gives it. */
export interface EvaluatedFlag {
  readonly name: string;
  readonly enabled: boolean;
  readonly variant: EvaluatedVariant;
  readonly impressionData: boolean;
}

/** One evaluation of a flag that has `impressionData`. */
export interface Impression extends SnapshotImpression {
  readonly environment: string;
}

/** How current the answers are. */
export interface EvaluationStatus {
  /** `current`, or `stale` while changes of other processes cannot be read; the last good state keeps serving. */
  readonly state: 'current' | 'stale';
  /** When the state was last known to be current; ISO 8601, UTC, milliseconds. */
  readonly checkedAt: string;
  /** Why it is stale. */
  readonly error?: unknown;
  /** Bytes of the SQLite write-ahead log on disk; absent on other storages. */
  readonly walBytes?: number;
  /**
   * How much of what clients reported to this process was not kept because of limits, since it was opened: `names` of
   * unknown flags, and `reports` of further applications. Absent while there is none.
   */
  readonly dropped?: DroppedMetrics;
}

/** All answers for one context from one state: what changes meanwhile does not show. */
export interface ContextualFlags {
  /** As {@link EvaluationOperations.isEnabled}; `fallback`, false when absent, is for a flag that does not exist. */
  isEnabled(flag: string, fallback?: boolean): boolean;
  /** As {@link EvaluationOperations.getVariant}. */
  getVariant(flag: string, fallback?: FallbackVariant): EvaluatedVariant;
  /** The answers of all flags, by name in code-point order; neither counted nor told as impressions. */
  evaluateAll(): readonly EvaluatedFlag[];
  /**
   * As {@link ContextualFlags.evaluateAll}, from the same state, in slices of some milliseconds: for servers that evaluate very
   * many flags for contexts of strangers. The context must not change meanwhile.
   *
   * @example
   * const answers = await flags.forContext({ userId: '7' }).evaluateAllAsync();
   */
  evaluateAllAsync(): Promise<readonly EvaluatedFlag[]>;
}

/** A flag as it is in one environment: what clients evaluate it by. */
export interface FlagConfiguration extends FlagDefinition {
  readonly project: string;
  readonly type: string;
  readonly description: string | null;
  readonly stale: boolean;
}

/** A segment as clients evaluate strategies by it. */
export type SegmentConfiguration = Pick<Segment, 'id' | 'name' | 'constraints'>;

/**
 * All that clients of one environment need, frozen. The same object is given until something changes; a flag's object is
 * the same until that flag changes.
 */
export interface EnvironmentConfiguration {
  /** Another number after every change, in any environment. */
  readonly version: number;
  /** Flags that are not archived, by name in code-point order. */
  readonly flags: readonly FlagConfiguration[];
  /** By id. */
  readonly segments: readonly SegmentConfiguration[];
}

export interface EvaluationOperations {
  /**
   * Whether a flag is on for a context. Synchronous, without input or output. It never throws for a flag or a context: a
   * flag that cannot be evaluated is off. A change made by this process shows as soon as its promise resolves, one made by
   * another process within `pollInterval`.
   *
   * @throws FlagsError `environment_not_found` for an environment that is not configured
   * @example
   * if (flags.isEnabled('checkout', { userId: '7' })) showNewCheckout();
   */
  isEnabled(flag: string, context?: EvaluationContext, options?: EvaluationOptions): boolean;

  /**
   * The variant that a context gets. Synchronous, and it never throws for a flag or a context.
   *
   * @throws FlagsError `environment_not_found` for an environment that is not configured
   * @example
   * const { name, payload } = flags.getVariant('checkout', { userId: '7' });
   */
  getVariant(flag: string, context?: EvaluationContext, options?: VariantOptions): EvaluatedVariant;

  /**
   * Pins the current state and a context, for a request: all answers are consistent with each other.
   *
   * @throws FlagsError `environment_not_found` for an environment that is not configured
   * @example
   * const mine = flags.forContext({ userId: '7' });
   * if (mine.isEnabled('checkout')) render(mine.getVariant('checkout'));
   */
  forContext(context: EvaluationContext, options?: EnvironmentChoice): ContextualFlags;

  /**
   * Why a flag is on or off for a context. Evaluates without counting.
   *
   * @throws FlagsError `environment_not_found` for an environment that is not configured
   * @example
   * const { reason, strategies } = flags.explain('checkout', { userId: '7' });
   */
  explain(flag: string, context?: EvaluationContext, options?: EnvironmentChoice): FlagExplanation;

  /**
   * Calls the listener with every evaluation of a flag that has `impressionData`, during that evaluation. What it throws
   * goes to `onError`.
   *
   * @returns a function that ends it
   * @example
   * const stop = flags.onImpression(({ flag, enabled }) => analytics.track(flag, enabled));
   */
  onImpression(listener: (impression: Impression) => void): () => void;

  /**
   * The flags of an environment as clients evaluate them, from memory.
   *
   * @throws FlagsError `environment_not_found`
   * @example
   * const enabled = flags.configuration().flags.filter((flag) => flag.enabled);
   */
  configuration(options?: EnvironmentChoice): EnvironmentConfiguration;

  /**
   * Returns the same as {@link EvaluationOperations.configuration}. Its first call for an environment compiles thousands of
   * flags in slices of some milliseconds: for servers.
   *
   * @throws FlagsError `environment_not_found`
   * @example
   * const { flags: all } = await flags.loadConfiguration({ environment: 'production' });
   */
  loadConfiguration(options?: EnvironmentChoice): Promise<EnvironmentConfiguration>;

  /**
   * Calls the listener after every change of what {@link EvaluationOperations.configuration} gives, in any environment,
   * by this process or another. What it throws goes to `onError`.
   *
   * @returns a function that ends it; it may be called again
   * @example
   * const stop = flags.onConfigurationChange(() => publish(flags.configuration()));
   */
  onConfigurationChange(listener: () => void): () => void;

  /** How current the answers are, and the size of the write-ahead log. Reads nothing but the size of that file. */
  status(): EvaluationStatus;

  /**
   * Reads what other processes have changed, now. Does not fail: see {@link EvaluationOperations.status}.
   *
   * @example
   * await flags.refresh();
   */
  refresh(): Promise<EvaluationStatus>;
}
