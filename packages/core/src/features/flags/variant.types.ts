import type { Payload, VariantOverride } from '../../evaluation/definitions.types.js';

/** `fix` keeps the given weight. `variable` variants share the rest of 1000. */
export type WeightType = 'fix' | 'variable';

/** One of several values that a flag can have while it is on. */
export interface Variant {
  /** Unique in the flag; the same characters as in flag names. */
  readonly name: string;
  readonly weightType: WeightType;
  /** 0–1000. All weights of a flag add up to 1000. */
  readonly weight: number;
  /** The context field whose value determines the variant, so that a user keeps it. Default: `default`. */
  readonly stickiness: string;
  readonly payload?: Payload;
  readonly overrides: readonly VariantOverride[];
}

/** A variant to set. */
export interface VariantInput {
  readonly name: string;
  /** Default: the type that keeps the weights, if variants have weights without types; otherwise `variable`. */
  readonly weightType?: WeightType;
  /** 0–1000. Required for `fix`; ignored for `variable`. Without a type, the variant's share: all add up to 1000. */
  readonly weight?: number;
  /** Default: `default`. */
  readonly stickiness?: string;
  readonly payload?: Payload;
  readonly overrides?: readonly VariantOverride[];
}
