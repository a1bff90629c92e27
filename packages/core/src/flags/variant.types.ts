import type { ChangeContext, FlagRef } from '../base/common.types.js';
import type { Payload, VariantOverride } from '../evaluation/definitions.types.js';

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

export interface VariantOperations {
  /**
   * Replaces all variants of a flag, in all environments, in the given order. `[]` removes them.
   *
   * Weights without `weightType` are shares, and all weights add up to 1000: 900 and 100 stay so. The last share is
   * stored as `variable`, the others as `fix`.
   *
   * Fixed weights must add up to less than 1000, and at least one variant must be variable. Variable variants share the
   * remainder equally; the first ones get one more each if it does not divide evenly (three variable: 334, 333, 333).
   *
   * If several callers set variants concurrently, the last one wins. Pass `ifRevision` to reject it instead.
   *
   * @throws FlagsError `invalid_input` (naming the rule), `project_not_found`, `flag_not_found`, `flag_archived`,
   * `revision_mismatch`
   * @example
   * await flags.setVariants({ project: 'default', flag: 'checkout' }, [
   *   { name: 'blue', weightType: 'fix', weight: 100 },
   *   { name: 'green' },
   * ]); // blue 100, green 900
   */
  setVariants(ref: FlagRef, variants: readonly VariantInput[], context?: ChangeContext): Promise<readonly Variant[]>;
}
