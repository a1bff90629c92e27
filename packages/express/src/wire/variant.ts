import type { Variant } from '@flags/core';

/** A payload that was not given is undefined, and so not in the JSON. */
export function variantToWire({ name, weightType, weight, stickiness, payload, overrides }: Variant) {
  return { name, weightType, weight, stickiness, payload, overrides };
}

/** What a change of the variants answers: the weights that were computed. */
export function variantWeightsToWire(variants: readonly Variant[]) {
  return { version: '1', variants: variants.map(({ name, weightType, weight }) => ({ name, weightType, weight })) };
}
