import type { StrategyVariant, VariantInput } from '@flags/core';
import { listOf, type Members, membersOf, type Report, textOf, textsOf } from './importer.js';

/** The sum of all weights. */
const TOTAL = 1000;

export type FlagVariant = StrategyVariant & Required<Pick<VariantInput, 'overrides'>>;

/** Converts the variants of a flag. */
export function toVariants(variants: readonly Members[], flag: string, report: Report): readonly FlagVariant[] {
  const converted = variants.map((variant) => {
    const overrides = listOf(variant.overrides).map(({ contextName, values }) => {
      return { contextName: `${contextName}`, values: textsOf(values) };
    });
    return { ...toStrategyVariant(variant, flag, report), overrides };
  });
  return isDistributed(converted) ? converted : toFixedWeights(converted, flag, report);
}

/** Whether the store would compute these weights: variable variants share evenly what the fixed ones leave. */
function isDistributed(variants: readonly StrategyVariant[]): boolean {
  const variable = variants.filter(({ weightType }) => weightType === 'variable').map(({ weight }) => weight);
  const isEven = Math.max(...variable) - Math.min(...variable) <= 1;
  return (
    variants.length === 0 || (variable.length > 0 && !variable.includes(0) && isEven && totalOf(variants) === TOTAL)
  );
}

function totalOf(variants: readonly StrategyVariant[]): number {
  return variants.reduce((sum, { weight }) => sum + weight, 0);
}

/** Fixes all weights but the largest: the store requires a variable variant, and gives it the rest. */
function toFixedWeights(variants: readonly FlagVariant[], flag: string, report: Report): readonly FlagVariant[] {
  const total = totalOf(variants);
  if (total !== TOTAL) {
    report.add(`${flag}: the weights of its variants add up to ${total}, so users may get other variants.`);
  }
  const weights = variants.map(({ weight }) => Math.round((weight * TOTAL) / (total || 1)));
  const largest = weights.indexOf(Math.max(...weights));
  return variants.map((variant, index) => {
    return { ...variant, weight: weights[index] ?? 0, weightType: index === largest ? 'variable' : 'fix' };
  });
}

export function toStrategyVariant(variant: Members, flag: string, report: Report): StrategyVariant {
  const payload = toPayload(variant.payload, flag, report);
  return {
    name: `${variant.name}`,
    weightType: variant.weightType === 'fix' ? 'fix' : 'variable',
    weight: Number(variant.weight ?? 0),
    stickiness: textOf(variant.stickiness) ?? 'default',
    ...(payload && { payload }),
  };
}

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/** Unleash accepts every text as a number. */
function toPayload(payload: unknown, flag: string, report: Report): VariantInput['payload'] {
  const { type, value } = membersOf(payload);
  if (type === undefined || value === undefined) return undefined;
  const text = `${value}`;
  if (type === 'string' || type === 'csv' || type === 'json') return { type, value: text };
  if (type === 'number' && NUMBER.test(text)) return { type, value: text };
  report.add(`${flag}: a payload is not a ${type}, and becomes a string.`);
  return { type: 'string', value: text };
}
