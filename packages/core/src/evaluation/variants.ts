import { ContextField, NO_ID, USER_SESSION_OR_ADDRESS } from './context.js';
import { NONE, toList, toText, toTexts } from './convert.js';
import type { VariantDefinition } from './definitions.types.js';
import type { EvaluatedVariant, EvaluationContext, VariantExplanation } from './evaluation.types.js';
import { HashedPrefix, hashWith } from './murmur3.js';
import type { StrategyContext } from './rollout.js';
import type { FlagCounter, VariantCounter } from './usage-counters.js';

const SEED = 86028157;
/** Keeps the sum of weights within 32 bits, the range of the hash. */
const MAX_WEIGHT = 1_000_000;
const MAX_TOTAL = 2 ** 31;

export interface CompiledVariant {
  readonly answer: EvaluatedVariant;
  /** Undefined for a result without a variant, which the counter of the flag counts. */
  readonly counter: VariantCounter | undefined;
}

/** The variant of a flag that is off. */
export const OFF: EvaluatedVariant = Object.freeze({ name: 'disabled', enabled: false, flagEnabled: false });
/** The variant of a flag that is on and has no variants. */
export const ON_WITHOUT_VARIANT: EvaluatedVariant = Object.freeze({
  name: 'disabled',
  enabled: false,
  flagEnabled: true,
});

export const COMPILED_OFF: CompiledVariant = { answer: OFF, counter: undefined };
export const COMPILED_ON: CompiledVariant = { answer: ON_WITHOUT_VARIANT, counter: undefined };

/** The variants of a flag or strategy, compiled for selection by override, hash or chance. */
export interface CompiledVariants {
  readonly overrides: readonly CompiledOverride[];
  readonly groupId: string;
  readonly stickiness: string;
  readonly id: ContextField;
  readonly prefix: HashedPrefix;
  readonly random: () => number;
  readonly totalWeight: number;
  /** The last bucket of each variant, ascending. */
  readonly lastBuckets: readonly number[];
  readonly weighted: readonly CompiledVariant[];
}

interface CompiledOverride {
  readonly field: ContextField;
  readonly values: ReadonlySet<string | undefined>;
  readonly variant: CompiledVariant;
}

export interface VariantCompileOptions {
  readonly groupId: string;
  readonly stickiness: string;
  readonly counter: FlagCounter;
  readonly strategyContext: StrategyContext;
}

/** Returns undefined if the sum of weights is 0: then there are no variants, and overrides have no effect. */
export function compileVariants(
  definitions: readonly VariantDefinition[],
  { groupId, stickiness, counter, strategyContext }: VariantCompileOptions,
): CompiledVariants | undefined {
  if (definitions.length === 0) return undefined;
  const weighted: CompiledVariant[] = [];
  const lastBuckets: number[] = [];
  const overrides: CompiledOverride[] = [];
  let totalWeight = 0;
  for (const definition of definitions) {
    const variant = compileVariant(definition, counter);
    for (const override of compileOverrides(definition, variant)) overrides.push(override);
    const weight = weightOf(definition);
    totalWeight += weight;
    if (weight === 0) continue;
    weighted.push(variant);
    lastBuckets.push(totalWeight - 1);
  }
  if (totalWeight === 0) return undefined;
  if (totalWeight >= MAX_TOTAL) throw new TypeError('weights of variants add up to too much');
  const prefix = new HashedPrefix(`${groupId}:`, SEED, strategyContext.idEncoding);
  return {
    overrides: overrides.length > 0 ? overrides : NONE,
    groupId,
    stickiness,
    id: stickyId(stickiness),
    prefix,
    random: strategyContext.random,
    totalWeight,
    // The copy takes less memory than an array that has grown by `push`.
    lastBuckets: lastBuckets.slice(),
    weighted: weighted.slice(),
  };
}

/** Overrides come first, in order. Otherwise the hash of the id decides, or chance if there is no id. */
export function chooseVariant(choice: CompiledVariants, context: EvaluationContext): CompiledVariant | undefined {
  if (choice.overrides.length > 0) {
    const override = overrideFor(choice, context);
    if (override) return override.variant;
  }
  return variantAt(choice, bucketOf(choice, choice.id.read(context)));
}

export function explainVariant(choice: CompiledVariants, context: EvaluationContext): VariantExplanation {
  const override = overrideFor(choice, context);
  if (override) return { variant: override.variant.answer, overridden: true };
  const { groupId, stickiness, totalWeight } = choice;
  const id = choice.id.read(context);
  const bucket = bucketOf(choice, id);
  const variant = variantAt(choice, bucket)?.answer;
  const drawn = { groupId, stickiness, ...(id && { id }), bucket: bucket + 1, random: !id, totalWeight };
  return { variant, overridden: false, ...drawn };
}

function overrideFor({ overrides }: CompiledVariants, context: EvaluationContext): CompiledOverride | undefined {
  return overrides.find(({ values, field }) => values.has(field.read(context)));
}

/** Returns a bucket from 0 to the total weight (exclusive). */
function bucketOf(choice: CompiledVariants, id: string | undefined): number {
  // Integers throughout, and both operands unsigned: floating point takes twice the time.
  if (id) return ((hashWith(choice.prefix, id) >>> 0) % (choice.totalWeight >>> 0)) | 0;
  return (choice.random() * choice.totalWeight) | 0;
}

/** Counts the variants that end before the bucket. Without branches, which would be slower here. */
function variantAt(choice: CompiledVariants, bucket: number): CompiledVariant | undefined {
  const { lastBuckets } = choice;
  let before = 0;
  for (let at = 0; at < lastBuckets.length; at++) before += ((lastBuckets[at] ?? 0) - bucket) >>> 31;
  return choice.weighted[before];
}

function stickyId(stickiness: string): ContextField {
  if (stickiness === 'default') return USER_SESSION_OR_ADDRESS;
  return stickiness === 'random' ? NO_ID : new ContextField(stickiness);
}

/** Without spreads: they make reads of these objects slower on Node 20. */
function compileVariant({ name: given, payload }: VariantDefinition, counter: FlagCounter): CompiledVariant {
  const name = toText(given, 'name of a variant');
  const copy = payload && Object.freeze({ type: payload.type, value: payload.value });
  const answer = { name, enabled: true, flagEnabled: true, ...(copy && { payload: copy }) };
  return { answer: Object.freeze(answer), counter: counter.variantCounter(name) };
}

function compileOverrides(definition: VariantDefinition, variant: CompiledVariant): CompiledOverride[] {
  return toList(definition.overrides, 'overrides of a variant').map(({ contextName, values }) => ({
    field: new ContextField(toText(contextName, 'contextName of an override')),
    // A blank value matches nothing: many applications pass an empty id for guests.
    values: new Set<string | undefined>(
      toTexts(values, 'values of an override').filter((value) => value.trim() !== ''),
    ),
    variant,
  }));
}

function weightOf({ weight }: VariantDefinition): number {
  if (Number.isInteger(weight) && weight >= 0 && weight <= MAX_WEIGHT) return weight;
  throw new TypeError(`weight of a variant must be a whole number from 0 to ${MAX_WEIGHT}`);
}
