import type { ErrorDetail } from '../../base/errors.js';
import { LIMITS } from '../../base/limits.js';
import { type JsonSchema, name, type ObjectSchema, parseNumber, text } from '../../base/primitives.js';
import { PAYLOAD_TYPES, type Payload, type VariantOverride } from '../../evaluation/definitions.types.js';
import type { VariantInput } from './variant.types.js';

export const weight: JsonSchema = { type: 'integer', minimum: 0, maximum: 1000 };

export const payload: ObjectSchema<Payload> = {
  type: 'object',
  properties: {
    type: { type: 'string', enum: PAYLOAD_TYPES },
    value: { type: 'string', maxLength: LIMITS.payloadText },
  },
  required: ['type', 'value'],
  additionalProperties: false,
};

/** Values to compare a context field with. */
export const values: JsonSchema = {
  type: 'array',
  maxItems: LIMITS.values,
  items: { type: 'string', maxLength: LIMITS.valueText },
};

const override: ObjectSchema<VariantOverride> = {
  type: 'object',
  properties: { contextName: text(LIMITS.label), values },
  required: ['contextName', 'values'],
  additionalProperties: false,
};

export const variant: ObjectSchema<VariantInput> = {
  type: 'object',
  properties: {
    name,
    weightType: { type: 'string', enum: ['fix', 'variable'] },
    weight,
    stickiness: text(LIMITS.label),
    payload,
    overrides: { type: 'array', maxItems: LIMITS.overrides, items: override },
  },
  required: ['name'],
  additionalProperties: false,
};

export const variants: JsonSchema = { type: 'array', maxItems: LIMITS.variants, items: variant };

/** Finds items whose key an earlier item has. Ignores items without a key. */
export function* findRepeated<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string | number | undefined,
  pathOf: (index: number) => string,
  message = 'must be unique',
): Generator<ErrorDetail> {
  const seen = new Set<string | number>();
  for (const [index, item] of items.entries()) {
    const key = keyOf(item);
    if (key === undefined) continue;
    if (seen.has(key)) yield { message, path: pathOf(index) };
    seen.add(key);
  }
}

/** A `json` payload must be JSON, and a `number` payload a number. */
export function findPayloadIssues({ type, value }: Payload, path: string): readonly ErrorDetail[] {
  if (type === 'json' && !isJson(value)) return [{ message: 'must be valid JSON', path: `${path}/value` }];
  if (type === 'number' && parseNumber(value) === undefined) {
    return [{ message: 'must be a number', path: `${path}/value` }];
  }
  return [];
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The sum of all variant weights. */
export const TOTAL_WEIGHT = 1000;

/**
 * Finds issues that the schema of variants cannot express: rules for the whole list, and payloads that do not match
 * their type.
 */
export function findVariantsIssues(variants: readonly VariantInput[]): readonly ErrorDetail[] {
  const repeated = findRepeated(
    variants,
    ({ name }) => name,
    (index) => `/${index}/name`,
    'must be unique among the variants',
  );
  return [...variants.flatMap(findVariantIssues), ...repeated, ...findWeightIssues(variants)];
}

function findVariantIssues(variant: VariantInput, index: number): readonly ErrorDetail[] {
  const unweighted = variant.weightType === 'fix' && variant.weight === undefined;
  return [
    ...(unweighted ? [{ message: 'is required for a variant of weightType fix', path: `/${index}/weight` }] : []),
    ...(variant.payload ? findPayloadIssues(variant.payload, `/${index}/payload`) : []),
  ];
}

/** Returns whether a variant has a weight without a `weightType`. Such weights are shares of the whole. */
function hasShares(variants: readonly VariantInput[]): boolean {
  return variants.some(({ weight, weightType }) => weight !== undefined && weightType === undefined);
}

/**
 * Gives variants the types that keep their shares: all become `fix`, except the last one with a share, which is
 * `variable` and so gets the rest. Without shares, returns the variants unchanged.
 */
export function withWeightTypes(variants: readonly VariantInput[]): readonly VariantInput[] {
  if (!hasShares(variants)) return variants;
  const last = variants.findLastIndex(({ weight = 0, weightType }) => weight > 0 && weightType === undefined);
  return variants.map(({ weight = 0, weightType, ...variant }, index) => {
    return { ...variant, weight, weightType: weightType ?? (index === last ? 'variable' : 'fix') };
  });
}

/** Finds shares that are not all of 1000. Beside a `variable` variant, which takes the rest, a share has no meaning. */
function findShareIssues(variants: readonly VariantInput[]): readonly ErrorDetail[] {
  if (!hasShares(variants)) return [];
  const sum = sumOf(variants);
  const isMixed = variants.some(({ weightType }) => weightType === 'variable');
  if (sum === TOTAL_WEIGHT && !isMixed) return [];
  const rule = isMixed ? 'without a variant of weightType variable' : `not to ${sum}`;
  const message = `must have weights that add up to ${TOTAL_WEIGHT}, ${rule}; or set weightType fix for each weight to keep, and no weight for variants that share the rest equally`;
  return [{ message, path: '' }];
}

function findWeightIssues(variants: readonly VariantInput[]): readonly ErrorDetail[] {
  if (variants.length === 0) return [];
  const fixed = variants.filter(({ weightType }) => weightType === 'fix');
  const fixedSum = sumOf(fixed);
  return [
    ...(fixed.length === variants.length
      ? [{ message: 'must have at least one variant of weightType variable', path: '' }]
      : []),
    ...(fixedSum >= TOTAL_WEIGHT
      ? [{ message: `must have fixed weights that add up to less than ${TOTAL_WEIGHT}, not to ${fixedSum}`, path: '' }]
      : findShareIssues(variants)),
  ];
}

function sumOf(variants: readonly VariantInput[]): number {
  return variants.reduce((sum, { weight = 0 }) => sum + weight, 0);
}
