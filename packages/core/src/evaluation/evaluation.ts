import type { Payload } from '../api/variants.js';
import type { EvaluationContext } from './context.js';
import type { EvaluatedVariant } from './variants.js';

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
