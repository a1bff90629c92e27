import { addToSums, type Counters, type FlagSums } from './composition.js';
import { counterSecond, lastSecondUntil } from './counter-second.js';
import type { FlagCount } from './port.js';
import { type SlicedWork, visitInSlices } from './slices.js';

/** A window is summed, and what has expired is dropped, by whole seconds. */
export function memoryCounters(): Counters {
  const seconds = new Map<number, FlagSums>();
  return {
    add(reports) {
      for (const { stop, counts } of reports) {
        const second = counterSecond(stop);
        const sums = seconds.get(second) ?? new Map<string, FlagCount>();
        for (const count of counts) addToSums(sums, count);
        seconds.set(second, sums);
      }
    },
    sumAfter: (time, sums) => visitInSlices(countsAfter(seconds, time), (count) => addToSums(sums, count)),
    forget(flag) {
      for (const sums of seconds.values()) sums.delete(flag);
    },
    dropUntil(time): SlicedWork {
      const until = lastSecondUntil(time);
      return visitInSlices(seconds.keys(), (second) => {
        if (second <= until) seconds.delete(second);
      });
    },
  };
}

/** The counters of every second after a time. */
export function* countsAfter(seconds: ReadonlyMap<number, FlagSums>, time: number): Iterable<FlagCount> {
  const until = lastSecondUntil(time);
  for (const [second, sums] of seconds) if (second > until) yield* sums.values();
}
