import type {
  Constraint,
  ConstraintDefinition,
  DependencyDefinition,
  FlagDefinition,
  Payload,
  StrategyParameters,
} from './definitions.types.js';

/**
 * A flag's variant for a context. Frozen; every call returns the same object for the same variant, except for
 * fallbacks.
 */
export interface EvaluatedVariant {
  /** `disabled` if the flag is off or has no variants. */
  readonly name: string;
  readonly payload?: Payload;
  /** Whether the flag has a variant for this context. */
  readonly enabled: boolean;
  /** Whether the flag is on. */
  readonly flagEnabled: boolean;
}

/** A flag's state and variant for one context. */
export interface Evaluation {
  readonly enabled: boolean;
  readonly variant: EvaluatedVariant;
}

/** One counted evaluation of a flag with `impressionData`. */
export interface Impression {
  readonly environment: string;
  readonly flag: string;
  readonly context: EvaluationContext;
  readonly enabled: boolean;
  /** Present for `getVariant` only. */
  readonly variant?: EvaluatedVariant;
}

/** The variant to return for an unknown flag. */
export interface FallbackVariant {
  readonly name: string;
  readonly enabled: boolean;
  readonly payload?: Payload;
}

/**
 * The user and circumstances that a flag is evaluated for. Constraints and stickiness name a member, or else an own
 * member of `properties`. Values are compared as text. Evaluation does not throw, whatever the context holds.
 *
 * @example
 * const context: EvaluationContext = { userId: '7', environment: 'staging', properties: { plan: 'pro' } };
 */
export interface EvaluationContext {
  readonly userId?: string | number | undefined;
  readonly sessionId?: string | number | undefined;
  readonly remoteAddress?: string | undefined;
  readonly appName?: string | undefined;
  /** Constraints compare it. It does not choose the environment of the evaluation: the options do. */
  readonly environment?: string | undefined;
  /** The time for `DATE_*` constraints. Default: the snapshot's `now`. */
  readonly currentTime?: Date | string | undefined;
  readonly properties?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * A context, as evaluation takes it. One that has nothing but an `environment` is a type error: it is meant as options.
 *
 * @typeParam Given inferred from the call
 */
export type ContextArgument<Given, Context = EvaluationContext> = [Given] extends [never]
  ? Given
  : 'environment' extends keyof Given
    ? keyof Given extends 'environment'
      ? PassEnvironmentAsOption
      : Context
    : Context;

/** A context without `environment`. The compiler shows the name where a context has nothing else. */
export type PassEnvironmentAsOption = {
  readonly [Name in Exclude<keyof EvaluationContext, 'environment'>]?: EvaluationContext[Name];
};

/**
 * How ids and group ids are encoded before hashing. ASCII text gives the same hash in both.
 *
 * - `utf8`: like the Unleash SDKs of other languages.
 * - `low-byte`: the low byte of each UTF-16 unit, like the Unleash SDK for Node. Choose it when you migrate from that
 *   SDK and users with non-ASCII ids must keep their variants.
 */
export type TextEncoding = 'utf8' | 'low-byte';

/**
 * A strategy that the host implements. It replaces a built-in strategy of the same name. If it throws, it does not
 * hold, and the problem is reported.
 *
 * @example
 * const weekend: CustomStrategy = {
 *   name: 'weekend',
 *   isEnabled: (parameters) => [0, 6].includes(new Date().getDay()) === (parameters.only !== false),
 * };
 */
export interface CustomStrategy<Name extends string = string> {
  readonly name: Name;
  /**
   * Returns `true` if the strategy holds; any other value means false. Called synchronously during evaluation, so it
   * must be fast.
   */
  isEnabled(parameters: StrategyParameters, context: EvaluationContext): boolean;
}

/**
 * The decision that determined the result.
 *
 * - `unknown_flag`, `broken_flag`: there is no readable definition.
 * - `dependency`: a parent does not satisfy the flag's dependency.
 * - `disabled`: the flag is off in this environment.
 * - `no_strategies`: the flag is enabled and has no strategies, so it is on.
 * - `strategy`: the last listed strategy holds.
 * - `no_strategy_holds`: no listed strategy holds.
 * - `unreadable_context`: reading the context threw an error.
 */
export type ExplanationReason =
  | 'unknown_flag'
  | 'broken_flag'
  | 'dependency'
  | 'disabled'
  | 'no_strategies'
  | 'strategy'
  | 'no_strategy_holds'
  | 'unreadable_context';

/** Why a flag is on or off: all decisions in their order, up to the one that determined the result. */
export interface FlagExplanation {
  readonly flag: string;
  readonly enabled: boolean;
  readonly reason: ExplanationReason;
  readonly variant: EvaluatedVariant;
  readonly dependencies: readonly DependencyExplanation[];
  readonly strategies: readonly StrategyExplanation[];
  /** How the variant was selected. Absent if the flag is off or has no variants. */
  readonly variantChoice?: VariantExplanation;
}

/** Whether a parent satisfies a flag's dependency. */
export interface DependencyExplanation {
  readonly dependency: DependencyDefinition;
  readonly holds: boolean;
}

/** Whether a strategy holds for a context, and why. */
export interface StrategyExplanation {
  readonly name: string;
  readonly holds: boolean;
  readonly disabled: boolean;
  /**
   * The parts of the strategy that this process does not know, or that have no effect: "unknown here: never on", "unknown
   * parameter rolout", "IN always compares case". Absent if there are none.
   */
  readonly unknown?: readonly string[];
  /** Set if the strategy exceeds the weight limit and is not evaluated. See the problem `too_costly`. */
  readonly isTooCostly?: true;
  readonly constraints: readonly ConstraintExplanation[];
  readonly segments: readonly SegmentExplanation[];
  /** Whether the strategy's own test holds. Absent if it was not evaluated. */
  readonly test?: boolean;
  /** Present for strategies that hash. */
  readonly rollout?: RolloutExplanation;
}

/** Whether a segment holds for a context. */
export interface SegmentExplanation {
  readonly id: number;
  readonly found: boolean;
  readonly holds: boolean;
  readonly constraints: readonly ConstraintExplanation[];
}

/** Whether a constraint holds for a context. */
export interface ConstraintExplanation {
  readonly constraint: ConstraintDefinition;
  /**
   * The text of the context field; absent if the context has none. `DATE_*` constraints test the time of the evaluation
   * instead.
   */
  readonly value?: string;
  readonly holds: boolean;
}

/** The result of a rollout for a context. */
export interface RolloutExplanation {
  readonly holds: boolean;
  /** The hashed text is `groupId:id`. `id` is absent if the context has none. */
  readonly groupId: string;
  readonly id?: string;
  /** 1–100: from the hash of the id, or random if there is no id. Absent if a missing id means off. */
  readonly bucket?: number;
  readonly random: boolean;
  /** The percentage, 0–100. Buckets up to this number are in the rollout. */
  readonly rollout: number;
}

/** How a variant was selected for a context. */
export interface VariantExplanation {
  readonly variant: EvaluatedVariant | undefined;
  readonly overridden: boolean;
  /** Absent for an override, like all members below. The hashed text is `groupId:id`. */
  readonly groupId?: string;
  readonly stickiness?: string;
  readonly id?: string;
  /** 1 to the total weight: from the hash of the id, or random if there is no id. */
  readonly bucket?: number;
  readonly random?: boolean;
  readonly totalWeight?: number;
}

/** A payload's value, or the reason that it is unusable. */
export type PayloadReading = { readonly value: unknown; readonly issue?: undefined } | { readonly issue: string };

/** Reads payloads of evaluated variants, and validates those of declared flags. */
export interface PayloadReader {
  /** Returns undefined for a variant without a payload, or without a declared one. */
  read(flag: string, variant: Pick<EvaluatedVariant, 'name' | 'payload'>): PayloadReading | undefined;
}

/** The environment of an evaluation. */
export interface EnvironmentChoice {
  /** Default: the instance's default environment. */
  readonly environment?: string | undefined;
}

/** The environment of an evaluation, and its result for an unknown flag. */
export interface EvaluationOptions extends EnvironmentChoice {
  /** The result for an unknown flag; never used for a flag that is off. Default: false. */
  readonly fallback?: boolean;
}

/** The environment of a variant, and its fallback. */
export interface VariantOptions extends EnvironmentChoice {
  /** The result for an unknown flag. Default: the disabled variant. */
  readonly fallback?: FallbackVariant;
}

/** The environment of a payload, and its fallback. */
export interface PayloadOptions extends EnvironmentChoice {
  /** The result without a valid payload. Default: undefined. */
  readonly fallback?: unknown;
}

/** One flag's result, as returned by {@link ContextualFlags.evaluateAll}. */
export interface EvaluatedFlag {
  readonly name: string;
  readonly enabled: boolean;
  readonly variant: EvaluatedVariant;
  readonly impressionData: boolean;
}

/** Whether evaluation uses current data. */
export interface EvaluationStatus {
  /**
   * `current`, or `stale` while the storage cannot be read. A stale instance evaluates the last state that it has read.
   */
  readonly state: 'current' | 'stale';
  /** When the state was last known to be current: ISO 8601, UTC, milliseconds. */
  readonly checkedAt: string;
  /** Why the state is stale. */
  readonly error?: unknown;
  /**
   * When this process last found that the storage had lost changes which it had seen, and loaded all flags again: ISO 8601,
   * UTC, milliseconds. Absent if that never happened.
   */
  readonly historyLostAt?: string;
  /** Size of the SQLite write-ahead log in bytes; absent for other storages. */
  readonly walBytes?: number;
  /** The driver of SQLite that runs, and why that one; absent for other storages. */
  readonly driver?: { readonly name: 'better-sqlite3' | 'node:sqlite'; readonly reason: string };
  /**
   * What this process has dropped of client metrics because of limits: `names` of unknown flags, `reports` of
   * additional applications, and the oldest rows of `usage` over time. Absent if nothing was dropped.
   */
  readonly dropped?: { readonly names: number; readonly reports: number; readonly usage?: number };
  /**
   * The change requests with a time and the rollouts that wait, as this process last saw them; `overdue` have been due for
   * more than ten seconds. `unguarded` counts the rollouts that wait for a process with `due.guard`, because this one has
   * none. Absent with `due: { run: false }`.
   */
  readonly due?: { readonly pending: number; readonly overdue: number; readonly unguarded: number };
  /**
   * The consumers that this process runs now; `failing` ones repeat events, because their handler has thrown. Only after
   * `consume`. `listConsumers` has their errors, also those of other processes.
   */
  readonly consumers?: { readonly running: number; readonly failing: number };
}

/** Evaluates flags for one context on one state. Later changes have no effect. */
export interface ContextualFlags {
  /** Like {@link Evaluator.isEnabled}. */
  isEnabled(flag: string, options?: Pick<EvaluationOptions, 'fallback'>): boolean;
  /** Like {@link Evaluator.getVariant}. */
  getVariant(flag: string, options?: Pick<VariantOptions, 'fallback'>): EvaluatedVariant;
  /** Like {@link Evaluator.getPayload}. */
  getPayload(flag: string, options?: Pick<PayloadOptions, 'fallback'>): unknown;
  /** Evaluates all flags, in name order (code points). Counts nothing and emits no impressions. */
  evaluateAll(): readonly EvaluatedFlag[];
}

/** A flag in one environment, as clients evaluate it. */
export interface FlagConfiguration extends FlagDefinition {
  readonly project: string;
  readonly type: string;
  readonly description: string | null;
  readonly stale: boolean;
  readonly labels: readonly string[];
}

/** A segment, as clients evaluate it. */
export interface SegmentConfiguration {
  readonly id: number;
  readonly name: string;
  readonly constraints: readonly Constraint[];
}

/**
 * The flags and segments that clients of one environment evaluate. Frozen. The object stays the same until something
 * changes; a flag's object stays the same until that flag changes.
 */
export interface EnvironmentConfiguration {
  /** Internal: the key of documents that the client routes encode. Changes with every change, in any environment. */
  readonly version: number;
  /** Flags that are not archived, in name order (code points). */
  readonly flags: readonly FlagConfiguration[];
  /** In order of ids. */
  readonly segments: readonly SegmentConfiguration[];
}

/** The changes in the configuration of one environment. */
export interface ConfigurationChange {
  readonly environment: string;
  /** The names of flags that were added, changed or removed. A flag does not change with the segments that it uses. */
  readonly flags: readonly string[];
  /** The ids of segments that were added, changed or removed. */
  readonly segments: readonly number[];
}

/**
 * Evaluation without administration, for code that must not change flags.
 *
 * @example
 * const greeting = (flags: Evaluator) => (flags.isEnabled('greeting') ? 'Hello' : '');
 * greeting(flags.evaluator);
 */
export interface Evaluator {
  /**
   * Returns whether a flag is on for a context.
   *
   * Synchronous, without I/O. Never throws because of a flag or a context: a flag that cannot be evaluated is off. A
   * change by this process is visible when its promise resolves; a change by another process within `pollInterval`.
   *
   * @throws FlagsError `environment_not_found` for an environment that is not configured, `invalid_input` for options that
   * are not an object
   * @example
   * if (flags.isEnabled('checkout', { userId: '7' })) showNewCheckout();
   */
  isEnabled<Given>(flag: string, context?: ContextArgument<Given>, options?: EvaluationOptions): boolean;

  /**
   * Returns the variant of a flag for a context.
   *
   * Synchronous, without I/O. Never throws because of a flag or a context.
   *
   * @throws FlagsError `environment_not_found` for an environment that is not configured, `invalid_input` for options that
   * are not an object
   * @example
   * const { name, payload } = flags.getVariant('checkout', { userId: '7' });
   */
  getVariant<Given>(flag: string, context?: ContextArgument<Given>, options?: VariantOptions): EvaluatedVariant;

  /**
   * Returns the payload of a flag's variant for a context: text for `string` and `csv`, a number for `number`, the
   * parsed and frozen JSON for `json`. Counts like {@link Evaluator.getVariant}.
   *
   * Without a payload it returns `options.fallback`. It does the same, and reports the problem `invalid_payload`, if the
   * text does not match its type, or the payload does not fit the schema that the flags were created with.
   *
   * @throws FlagsError `environment_not_found` for an environment that is not configured, `invalid_input` for options that
   * are not an object
   * @example
   * const limits = flags.getPayload('limits', { userId: '7' }, { fallback: { requests: 10 } });
   */
  getPayload<Given>(flag: string, context?: ContextArgument<Given>, options?: PayloadOptions): unknown;

  /**
   * Binds a context to the current state, for example for one request. All results are consistent with each other.
   *
   * @throws FlagsError `environment_not_found` for an environment that is not configured, `invalid_input` for options that
   * are not an object
   * @example
   * const mine = flags.forContext({ userId: '7' });
   * if (mine.isEnabled('checkout')) render(mine.getVariant('checkout'));
   */
  forContext<Given>(context: ContextArgument<Given>, options?: EnvironmentChoice): ContextualFlags;

  /**
   * Explains why a flag is on or off for a context. Counts nothing.
   *
   * @throws FlagsError `environment_not_found` for an environment that is not configured, `invalid_input` for options that
   * are not an object
   * @example
   * const { reason, strategies } = flags.explain('checkout', { userId: '7' });
   */
  explain<Given>(flag: string, context?: ContextArgument<Given>, options?: EnvironmentChoice): FlagExplanation;

  /**
   * Evaluates all flags that are not archived, in name order. Counts nothing.
   *
   * @throws FlagsError `environment_not_found` for an environment that is not configured, `invalid_input` for options that
   * are not an object
   * @example
   * const enabled = flags.evaluateAll({ userId: '7' }).filter((flag) => flag.enabled);
   */
  evaluateAll<Given>(context: ContextArgument<Given>, options?: EnvironmentChoice): readonly EvaluatedFlag[];
}

/** The evaluation that needs no storage: what an engine and a follower have in common. */
export interface FollowedEvaluation extends Evaluator {
  /** The evaluation of these flags by itself. Hand it to code that must not change flags. */
  readonly evaluator: Evaluator;

  /**
   * Calls the listener during every counted evaluation of a flag with `impressionData`. An error of the listener goes
   * to `onError`.
   *
   * @returns a function that removes the listener
   * @example
   * const stop = flags.onImpression(({ flag, enabled }) => analytics.track(flag, enabled));
   */
  onImpression(listener: (impression: Impression) => void): () => void;

  /**
   * Returns the flags and segments of an environment, as clients evaluate them. Reads from memory.
   *
   * @throws FlagsError `environment_not_found` for an environment that is not configured
   * @example
   * const enabled = flags.configuration().flags.filter((flag) => flag.enabled);
   */
  configuration(options?: EnvironmentChoice): EnvironmentConfiguration;

  /**
   * Calls the listener after every change of `configuration` by any process, once for each
   * affected environment, except those that have not been requested yet. An error of the listener goes to `onError`.
   *
   * @returns a function that removes the listener; safe to call again
   * @example
   * const stop = flags.onConfigurationChange(({ environment, flags: names }) => log.info({ environment, names }));
   */
  onConfigurationChange(listener: (change: ConfigurationChange) => void): () => void;

  /**
   * Returns whether evaluation uses current data, and the size of the write-ahead log. Reads only the size of that
   * file.
   */
  status(): EvaluationStatus;

  /**
   * Reads the changes of other processes now. Does not reject: a failure is in the returned {@link EvaluationStatus}.
   *
   * @example
   * await flags.refresh();
   */
  refresh(): Promise<EvaluationStatus>;
}

export interface EvaluationOperations extends FollowedEvaluation {
  /**
   * Returns the contexts that this process has evaluated last, newest first, each once. Empty without the option
   * `recentContexts`.
   *
   * @example
   * const [newest] = flags.recentContexts();
   */
  recentContexts(): readonly EvaluationContext[];

  /**
   * Returns the project of a flag, archived or not, or of a segment. Reads from memory, and so may miss what another
   * process has just changed.
   *
   * @returns null for a segment of the instance, undefined if there is no such flag or segment
   * @example
   * const project = flags.projectOf({ flag: 'checkout' });
   */
  projectOf(ref: { readonly flag: string } | { readonly segment: number }): string | null | undefined;
}
