import type { FlagType } from '../flags.js';

const DAY = 86_400_000;

export interface Aging {
  readonly type: string;
  readonly stale: boolean;
  readonly createdAt: string;
}

/**
 * 0–100: 100 minus the percentage of flags that are stale or potentially stale (not stale, but older than their type's
 * lifetime), rounded; 100 without flags.
 */
export function healthOf(flags: readonly Aging[], types: readonly FlagType[], now: Date): number {
  if (flags.length === 0) return 100;
  const lifetimes = new Map(types.map(({ name, lifetimeDays }) => [name, (lifetimeDays ?? Infinity) * DAY]));
  const isOutlived = ({ type, createdAt }: Aging) =>
    now.getTime() - Date.parse(createdAt) > (lifetimes.get(type) ?? Infinity);
  const unhealthy = flags.filter((flag) => flag.stale || isOutlived(flag));
  return Math.round(100 - (100 * unhealthy.length) / flags.length);
}
