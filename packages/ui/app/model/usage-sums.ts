import type { UsageRow } from '../api/types.js';

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

interface Usage {
  yes: number;
  no: number;
}

/**
 * Sums usage over environments and applications, by hour or by day, oldest first. Missing periods are 0.
 */
export function sumByPeriod(rows: readonly UsageRow[], count: number, now: number, length = HOUR): readonly Usage[] {
  const latest = Math.floor(now / length);
  const sums = Array.from({ length: count }, () => ({ yes: 0, no: 0 }));
  for (const { hour, day, yes, no } of rows) {
    const sum = sums[count - 1 - (latest - Math.floor(Date.parse(hour ?? day ?? '') / length))];
    if (sum === undefined) continue;
    sum.yes += yes;
    sum.no += no;
  }
  return sums;
}

/** Sums the evaluations by variant, most frequent first. Omits evaluations without a variant. */
export function sumByVariant(rows: readonly UsageRow[]): readonly (readonly [name: string, count: number])[] {
  const sums = new Map<string, number>();
  for (const [name, count] of rows.flatMap(({ variants = {} }) => Object.entries(variants))) {
    sums.set(name, (sums.get(name) ?? 0) + count);
  }
  sums.delete('disabled');
  return [...sums].sort(([, one], [, other]) => other - one);
}
