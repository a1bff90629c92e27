import { compareCodePoints } from '../base/collections.js';
import { LIMITS } from '../base/limits.js';
import { boundedSum } from './counters.js';
import type { TimedUsage, TimedUsageKey, UsageReport, VariantCount } from './metrics-port.js';

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

/** Returns the start of the hour or day that a time is in. */
export function startOf(unit: 'hour' | 'day', time: number): number {
  return time - (time % (unit === 'hour' ? HOUR : DAY));
}

/** Returns the first of the latest hours or days that are kept. */
export function firstKept(unit: 'hour' | 'day', now: number): number {
  return unit === 'hour'
    ? startOf('hour', now) - (LIMITS.usageHours - 1) * HOUR
    : startOf('day', now) - (LIMITS.usageDays - 1) * DAY;
}

/** Returns the start of the hour in which a report counts. */
export function hourOf({ hour, stop }: Pick<UsageReport, 'hour' | 'stop'>): number {
  return startOf('hour', hour ?? stop);
}

/** Adds up the counts by variant. The sums keep the order of two equal lists of variants, otherwise by code points. */
export function addVariants(
  one: readonly VariantCount[] | undefined,
  other: readonly VariantCount[] | undefined,
): readonly VariantCount[] {
  if (
    one !== undefined &&
    one.length === other?.length &&
    one.every(({ variant }, at) => variant === other[at]?.variant)
  ) {
    return one.map(({ variant, count }, at) => ({ variant, count: boundedSum(count, other[at]?.count ?? 0) }));
  }
  const sums = new Map<string, number>();
  for (const { variant, count } of [...(one ?? []), ...(other ?? [])]) {
    sums.set(variant, boundedSum(sums.get(variant) ?? 0, count));
  }
  return sortedVariants(sums);
}

const NO_COUNTS: ReadonlyMap<string, number> = new Map();

/** Returns the counts of variants in code-point order. */
export function sortedVariants(counts: ReadonlyMap<string, number> = NO_COUNTS): readonly VariantCount[] {
  const variants = [...counts].map(([variant, count]) => ({ variant, count }));
  return variants.sort((one, other) => compareCodePoints(one.variant, other.variant));
}

/** Adds up rows that have the same key and follow each other. */
export function mergeTimedUsage(rows: Iterable<TimedUsage>): TimedUsage[] {
  const merged: TimedUsage[] = [];
  for (const row of rows) {
    const last = merged.at(-1);
    if (last === undefined || !isSameKey(last, row)) merged.push(row);
    else merged[merged.length - 1] = addTimedUsage(last, row);
  }
  return merged;
}

function addTimedUsage(one: TimedUsage, { yes, no, variants }: Omit<TimedUsage, keyof TimedUsageKey>): TimedUsage {
  return {
    ...one,
    yes: boundedSum(one.yes, yes),
    no: boundedSum(one.no, no),
    variants: variants.length === 0 ? one.variants : addVariants(one.variants, variants),
  };
}

function isSameKey(one: TimedUsageKey, other: TimedUsageKey): boolean {
  return (
    one.flag === other.flag &&
    one.application === other.application &&
    one.environment === other.environment &&
    one.start === other.start
  );
}

/** Compares two rows in the order of {@link TimedUsage}. */
export function compareTimedUsage(one: TimedUsageKey, other: TimedUsageKey): number {
  return (
    compareCodePoints(one.flag, other.flag) ||
    compareCodePoints(one.application, other.application) ||
    compareCodePoints(one.environment, other.environment) ||
    one.start - other.start
  );
}
