import type { FlagType } from '../flags.js';

const DAY = 86_400_000;

export interface Aging {
  readonly type: string;
  readonly stale: boolean;
  readonly createdAt: string;
}

/** How many flags are out of date. */
export interface Staleness {
  readonly staleCount: number;
  /** Flags that are not stale, but older than the lifetime of their type. */
  readonly potentiallyStaleCount: number;
}

export function stalenessOf(flags: readonly Aging[], types: readonly FlagType[], now: Date): Staleness {
  const lifetimes = new Map(types.map(({ name, lifetimeDays }) => [name, (lifetimeDays ?? Infinity) * DAY]));
  const isOutlived = ({ type, createdAt }: Aging) =>
    now.getTime() - Date.parse(createdAt) > (lifetimes.get(type) ?? Infinity);
  return {
    staleCount: flags.filter(({ stale }) => stale).length,
    potentiallyStaleCount: flags.filter((flag) => !flag.stale && isOutlived(flag)).length,
  };
}

/** 0–100: 100 minus the percentage of flags that are stale or potentially stale, rounded; 100 without flags. */
export function healthOf(flags: readonly Aging[], types: readonly FlagType[], now: Date): number {
  if (flags.length === 0) return 100;
  const { staleCount, potentiallyStaleCount } = stalenessOf(flags, types, now);
  return Math.round(100 - (100 * (staleCount + potentiallyStaleCount)) / flags.length);
}
