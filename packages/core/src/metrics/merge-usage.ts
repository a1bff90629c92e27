import { compareCodePoints } from '../code-point-order.js';
import { boundedSum } from './bounded-sum.js';
import type { FlagUsage, UsageQuery } from './port.js';

/** One page of two pages of the same query, each in its order; a pair that is in both is added up. */
export function mergeUsage(
  flags: readonly FlagUsage[],
  unknown: readonly FlagUsage[],
  { order = 'application', limit = Number.POSITIVE_INFINITY }: UsageQuery,
): FlagUsage[] {
  if (unknown.length === 0) return [...flags];
  const merged: FlagUsage[] = [];
  let [one, other] = [0, 0];
  while (merged.length < limit) {
    const [left, right] = [flags[one], unknown[other]];
    const next = left === undefined ? 1 : right === undefined ? -1 : compareUsage(order, left, right);
    if (left !== undefined && right !== undefined && next === 0) {
      merged.push({ ...left, count: boundedSum(left.count, right.count) });
    } else {
      const first = next < 0 ? left : right;
      if (first === undefined) break;
      merged.push(first);
    }
    if (next <= 0) one += 1;
    if (next >= 0) other += 1;
  }
  return merged;
}

export function compareUsage(
  order: 'application' | 'flag',
  one: Pick<FlagUsage, 'application' | 'flag'>,
  other: Pick<FlagUsage, 'application' | 'flag'>,
): number {
  const byApplication = () => compareCodePoints(one.application, other.application);
  const byFlag = () => compareCodePoints(one.flag, other.flag);
  return order === 'application' ? byApplication() || byFlag() : byFlag() || byApplication();
}
