import type { ChangeContext, FlagRef, JsonPatch } from '../common.types.js';

export const PAYLOAD_TYPES = ['string', 'json', 'csv', 'number'] as const;
export type PayloadType = (typeof PAYLOAD_TYPES)[number];

/** What a variant carries. A `json` value is a JSON text, a `number` value a number in text. */
export interface Payload {
  readonly type: PayloadType;
  readonly value: string;
}

/** `fix` keeps the given weight; `variable` shares what the fixed ones leave of 1000. */
export type WeightType = 'fix' | 'variable';

/** Users whose context field has one of these values get the variant, whatever the weights say. */
export interface Override {
  readonly contextName: string;
  readonly values: readonly string[];
}

export interface Variant {
  /** Unique in its flag, by the rule of flag names. */
  readonly name: string;
  readonly weightType: WeightType;
  /** 0–1000; all weights of a flag add up to 1000. */
  readonly weight: number;
  /** The context field that keeps a user with a variant; `default` when not given. */
  readonly stickiness: string;
  readonly payload?: Payload;
  readonly overrides: readonly Override[];
}

export interface VariantInput {
  readonly name: string;
  /** `variable` when absent. */
  readonly weightType?: WeightType;
  /** Required for `fix`, 0–1000; ignored for `variable`. */
  readonly weight?: number;
  /** `default` when absent. */
  readonly stickiness?: string;
  readonly payload?: Payload;
  readonly overrides?: readonly Override[];
}

export interface VariantOperations {
  /**
   * Replaces all variants of a flag, in all environments at once, in the order given; `[]` clears them. The fixed
   * weights must stay below 1000 and one variant must be variable. The remainder is shared equally among the variable
   * ones, what rounding leaves going one each to the first of them (three variable: 334, 333, 333).
   *
   * Of two simultaneous calls the later wins whole; pass `ifRevision` to refuse it instead.
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

  /**
   * Changes the list of variants by a JSON Patch (RFC 6902), all operations or none; the result is checked and weighted
   * as by {@link setVariants}. Two simultaneous patches are applied one after the other.
   *
   * @throws FlagsError as {@link setVariants}, and `invalid_patch`, `patch_test_failed`
   * @example
   * await flags.patchVariants({ project: 'default', flag: 'checkout' }, [
   *   { op: 'add', path: '/-', value: { name: 'red' } },
   * ]);
   */
  patchVariants(ref: FlagRef, patch: JsonPatch, context?: ChangeContext): Promise<readonly Variant[]>;
}
