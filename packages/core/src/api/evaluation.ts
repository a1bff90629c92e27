import type { Payload } from './variants.js';

/**
 * For whom a flag is evaluated. A strategy or constraint that names a field finds it among these members, else among
 * `properties`; numbers and booleans count as their text.
 */
export interface EvaluationContext {
  readonly userId?: string | number;
  readonly sessionId?: string;
  readonly remoteAddress?: string;
  readonly environment?: string;
  readonly appName?: string;
  /** What date constraints compare with; the moment of the call when absent. */
  readonly currentTime?: Date | string;
  readonly properties?: Readonly<Record<string, string | number | boolean | null | undefined>>;
}

export interface EvaluationOptions {
  /** The instance's default environment when absent. */
  readonly environment?: string;
  /** The answer for a flag that does not exist, or an environment that is not loaded; never for one that is off. */
  readonly fallback?: boolean;
}

export interface VariantOptions {
  readonly environment?: string;
  /** The answer for a flag that does not exist; the disabled variant when absent. */
  readonly fallback?: EvaluatedVariant;
}

/** The variant that a context gets; `{ name: 'disabled', enabled: false }` when it gets none. */
export interface EvaluatedVariant {
  readonly name: string;
  readonly payload?: Payload;
  /** Whether the flag has a variant for this context. */
  readonly enabled: boolean;
  /** Whether the flag is on for this context. */
  readonly feature_enabled: boolean;
}

/** One flag's answer, as {@link EvaluationOperations.evaluateAll} gives it. */
export interface EvaluatedFlag {
  readonly name: string;
  readonly enabled: boolean;
  readonly variant: EvaluatedVariant;
  readonly impressionData: boolean;
}

/** Why a flag is on or off for a context: every step in the order in which it was decided. */
export interface Explanation {
  readonly flag: string;
  readonly environment: string;
  readonly enabled: boolean;
  readonly variant: EvaluatedVariant;
  readonly steps: readonly ExplanationStep[];
}

export interface ExplanationStep {
  /** What was looked at: `flag`, `dependency`, `environment`, `strategy`, `constraint`, `segment`, `rollout`, `variant`. */
  readonly subject: string;
  /** Which one: a flag's, strategy's, segment's or field's name. */
  readonly name: string;
  readonly holds: boolean;
  /** One sentence for a person. */
  readonly reason: string;
  readonly steps?: readonly ExplanationStep[];
}

/** A strategy of the host's own. It is asked during evaluation: it must be quick and must not wait for anything. */
export interface CustomStrategy {
  readonly name: string;
  /** What it throws counts as false, and is told to `onError` once. */
  isEnabled(parameters: Readonly<Record<string, unknown>>, context: EvaluationContext): boolean;
}

/** One evaluation of a flag that has `impressionData`. */
export interface Impression {
  readonly kind: 'isEnabled' | 'getVariant';
  readonly flag: string;
  readonly environment: string;
  readonly context: EvaluationContext;
  readonly enabled: boolean;
  /** Of `getVariant`: the variant's name. */
  readonly variant?: string;
}

/** How current the answers are. */
export interface EvaluationStatus {
  /** `current`, or `stale` while changes of other processes cannot be read; the last good state keeps serving. */
  readonly state: 'current' | 'stale';
  /** When the state was last known to be current; ISO 8601, UTC, milliseconds. */
  readonly checkedAt: string;
  /** Why it is stale. */
  readonly error?: unknown;
}

/** All answers for one context from one state: what changes meanwhile does not show. */
export interface ContextualFlags {
  isEnabled(flag: string, fallback?: boolean): boolean;
  getVariant(flag: string, fallback?: EvaluatedVariant): EvaluatedVariant;
  evaluateAll(): readonly EvaluatedFlag[];
}

export interface EvaluationOperations {
  /**
   * Whether a flag is on for a context. Synchronous, without input or output, and it never throws: a flag that cannot be
   * evaluated is off. A change made by this process shows as soon as its promise resolves, one made by another process
   * within `pollInterval`.
   *
   * @example
   * if (flags.isEnabled('checkout', { userId: '7' })) showNewCheckout();
   */
  isEnabled(flag: string, context?: EvaluationContext, options?: EvaluationOptions): boolean;

  /**
   * The variant that a context gets. Synchronous, and it never throws.
   *
   * @example
   * const { name, payload } = flags.getVariant('checkout', { userId: '7' });
   */
  getVariant(flag: string, context?: EvaluationContext, options?: VariantOptions): EvaluatedVariant;

  /**
   * Pins the current state and a context, for a request: all answers are consistent with each other.
   *
   * @example
   * const mine = flags.forContext({ userId: '7' });
   * if (mine.isEnabled('checkout')) render(mine.getVariant('checkout'));
   */
  forContext(context: EvaluationContext, options?: { readonly environment?: string }): ContextualFlags;

  /**
   * Why a flag is on or off for a context. Evaluates without counting.
   *
   * @example
   * for (const { subject, name, reason } of flags.explain('checkout', { userId: '7' }).steps) console.log(subject, name, reason);
   */
  explain(flag: string, context?: EvaluationContext, options?: { readonly environment?: string }): Explanation;

  /**
   * Calls the listener with every evaluation of a flag that has `impressionData`, during that evaluation. What it throws
   * goes to `onError`.
   *
   * @returns a function that ends it
   * @example
   * const stop = flags.onImpression(({ flag, enabled }) => analytics.track(flag, enabled));
   */
  onImpression(listener: (impression: Impression) => void): () => void;

  /** How current the answers are. */
  status(): EvaluationStatus;

  /**
   * Reads what other processes have changed, now. Does not fail: see {@link EvaluationOperations.status}.
   *
   * @example
   * await flags.refresh();
   */
  refresh(): Promise<EvaluationStatus>;
}
