import type { EvaluationContext } from './evaluation-context.js';
import type { Payload } from './variants.js';

/**
 * The variant that a flag has for a context. Frozen, and the same object for every call that answers this variant; only a
 * fallback is copied anew.
 */
export interface EvaluatedVariant {
  /** `disabled` when there is none. */
  readonly name: string;
  readonly payload?: Payload;
  /** Whether there is a variant. */
  readonly enabled: boolean;
  /** Whether the flag is on. */
  readonly feature_enabled: boolean;
}

/** What a flag comes to for a context. */
export interface Evaluation {
  readonly enabled: boolean;
  readonly variant: EvaluatedVariant;
}

/** Told for every counted evaluation of a flag with `impressionData`. */
export interface Impression {
  readonly flag: string;
  readonly context: EvaluationContext;
  readonly enabled: boolean;
  /** Only of `getVariant`. */
  readonly variant?: EvaluatedVariant;
}

/** What a caller wants for a flag that does not exist. */
export interface FallbackVariant {
  readonly name: string;
  readonly enabled: boolean;
  readonly payload?: Payload;
}
