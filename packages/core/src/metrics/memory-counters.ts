import { compareCodePoints } from '../code-point-order.js';
import { boundedSum } from './bounded-sum.js';
import type { Counters } from './composition.js';
import { counterSecond, lastSecondUntil } from './counter-second.js';
import type { FlagCount } from './port.js';

/** A window is summed, and what has expired is dropped, by whole seconds. */
export function memoryCounters(): Counters {
  const seconds = new Map<number, Map<string, FlagCount>>();
  return {
    add(reports) {
      for (const { stop, counts } of reports) {
        const second = counterSecond(stop);
        const sums = seconds.get(second) ?? new Map<string, FlagCount>();
        for (const count of counts) addTo(sums, count);
        seconds.set(second, sums);
      }
    },
    sumAfter(time) {
      const until = lastSecondUntil(time);
      const total = new Map<string, FlagCount>();
      for (const [second, sums] of seconds) {
        if (second > until) for (const count of sums.values()) addTo(total, count);
      }
      return [...total.values()].sort((one, other) => compareCodePoints(one.flag, other.flag));
    },
    forget(flag) {
      for (const sums of seconds.values()) sums.delete(flag);
    },
    dropUntil(time) {
      const until = lastSecondUntil(time);
      for (const second of seconds.keys()) if (second <= until) seconds.delete(second);
    },
  };
}

/** Keeps objects of its own, never those of a caller. */
function addTo(sums: Map<string, FlagCount>, { flag, yes, no }: FlagCount): void {
  const known = sums.get(flag);
  sums.set(flag, { flag, yes: boundedSum(yes, known?.yes ?? 0), no: boundedSum(no, known?.no ?? 0) });
}
