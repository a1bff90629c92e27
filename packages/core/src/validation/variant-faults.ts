import type { VariantInput } from '../api/variants.js';
import type { ErrorDetail } from '../errors.js';
import { findPayloadFaults } from './payload-faults.js';

/** The scale of variant weights. */
export const TOTAL_WEIGHT = 1000;

/** What the schema of variants cannot say: the rules of the list as a whole, and payloads that are what they claim. */
export function findVariantsFaults(variants: readonly VariantInput[]): readonly ErrorDetail[] {
  return [...variants.flatMap(findVariantFaults), ...findDuplicates(variants), ...findWeightFaults(variants)];
}

function findVariantFaults(variant: VariantInput, index: number): readonly ErrorDetail[] {
  const unweighted = variant.weightType === 'fix' && variant.weight === undefined;
  return [
    ...(unweighted ? [{ message: 'is required for a variant of weightType fix', path: `/${index}/weight` }] : []),
    ...(variant.payload ? findPayloadFaults(variant.payload, `/${index}/payload`) : []),
  ];
}

function findDuplicates(variants: readonly VariantInput[]): readonly ErrorDetail[] {
  const seen = new Set<string>();
  return variants.flatMap(({ name }, index) => {
    if (seen.has(name)) return [{ message: 'must be unique among the variants', path: `/${index}/name` }];
    seen.add(name);
    return [];
  });
}

function findWeightFaults(variants: readonly VariantInput[]): readonly ErrorDetail[] {
  if (variants.length === 0) return [];
  const fixed = variants.filter((variant) => variant.weightType === 'fix');
  const sum = fixed.reduce((total, { weight = 0 }) => total + weight, 0);
  return [
    ...(fixed.length === variants.length
      ? [{ message: 'must have at least one variant of weightType variable', path: '' }]
      : []),
    ...(sum >= TOTAL_WEIGHT
      ? [{ message: `must have fixed weights that add up to less than ${TOTAL_WEIGHT}, not to ${sum}`, path: '' }]
      : []),
  ];
}
