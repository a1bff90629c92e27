import type { FlagType } from '../flags.js';

const DAY = 86_400_000;

export interface Aging {
  readonly type: string;
  readonly stale: boolean;
  readonly createdAt: string;
}

export interface Health {
  /** 0–100: 100 minus the percentage of flags that are stale or potentially stale, rounded; 100 without flags. */
  readonly health: number;
  readonly staleCount: number;
  /** Flags that are not stale, but older than the lifetime of their type. */
  readonly potentiallyStaleCount: number;
}

export function healthOf(flags: readonly Aging[], types: readonly FlagType[], now: Date): Health {
  const lifetimes = new Map(types.map(({ name, lifetimeDays }) => [name, (lifetimeDays ?? Infinity) * DAY]));
  const isOutlived = ({ type, createdAt }: Aging) =>
    now.getTime() - Date.parse(createdAt) > (lifetimes.get(type) ?? Infinity);
  const staleCount = flags.filter(({ stale }) => stale).length;
  const potentiallyStaleCount = flags.filter((flag) => !flag.stale && isOutlived(flag)).length;
  const unhealthy = staleCount + potentiallyStaleCount;
  return { health: Math.round(100 - (100 * unhealthy) / (flags.length || 1)), staleCount, potentiallyStaleCount };
}
