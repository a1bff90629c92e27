import { compareCodePoints } from '../../base/collections.js';
import { LIMITS } from '../../base/limits.js';
import { addSecond, boundedSum, counterSecond, lastSecondUntil, type SecondCount } from '../counters.js';
import { addToSums, compareUsage, type UnknownNames } from '../metrics-composition.js';
import type { FlagCount, FlagUsage, UsageReport } from '../metrics-port.js';
import { visitInSlices } from '../slices.js';

interface UnknownName {
  readonly application: string;
  readonly flag: string;
  readonly at: number;
  readonly count: number;
  readonly seconds: readonly SecondCount[];
}

/** Stores each name in one map of all names and in one map per application, the least recent first. */
export function memoryUnknownNames(): UnknownNames {
  const all = new Map<string, UnknownName>();
  const byApplication = new Map<string, Map<string, UnknownName>>();
  const dropped = new Map<string, number>();

  function remove({ application, flag }: UnknownName): void {
    all.delete(keyOf(application, flag));
    const names = byApplication.get(application);
    names?.delete(flag);
    if (names?.size === 0) byApplication.delete(application);
  }

  function addOne({ application, at, stop }: UsageReport, { flag, yes, no }: FlagCount): void {
    const names = byApplication.get(application) ?? new Map<string, UnknownName>();
    const before = names.get(flag);
    const seconds = addSecond(before?.seconds ?? [], [counterSecond(stop), yes, no]);
    const count = boundedSum(before?.count ?? 0, boundedSum(yes, no));
    if (before) remove(before);
    const name = { application, flag, at: Math.max(before?.at ?? at, at), count, seconds };
    byApplication.set(application, names.set(flag, name));
    all.set(keyOf(application, flag), name);
  }

  function dropOldest(names: ReadonlyMap<string, UnknownName>): void {
    const [oldest] = names.values();
    if (!oldest) return;
    remove(oldest);
    dropped.set(oldest.application, (dropped.get(oldest.application) ?? 0) + 1);
  }

  return {
    add(reports) {
      let count = 0;
      for (const report of reports) {
        const { application, unknown = [], droppedNames = 0 } = report;
        for (const one of unknown) {
          addOne(report, one);
          const names = byApplication.get(application);
          if (names && names.size > LIMITS.unknownNamesPerApplication) dropOldest(names);
          else if (all.size > LIMITS.unknownNames) dropOldest(all);
          else continue;
          count += 1;
        }
        if (droppedNames > 0) dropped.set(application, (dropped.get(application) ?? 0) + droppedNames);
        count += droppedNames;
      }
      return count;
    },
    sumAfter: (time, sums) =>
      visitInSlices(all.values(), ({ flag, seconds }) => {
        const until = lastSecondUntil(time);
        for (const [second, yes, no] of seconds) if (second > until) addToSums(sums, { flag, yes, no });
      }),
    usage({ order = 'application', after, limit = Number.POSITIVE_INFINITY }) {
      const later = [...all.values()].filter((name) => after === undefined || compareUsage(order, name, after) > 0);
      return later
        .sort((one, other) => compareUsage(order, one, other))
        .slice(0, limit)
        .map(toUsage);
    },
    of: (application) => [...(byApplication.get(application)?.keys() ?? [])].sort(compareCodePoints),
    droppedOf: (application) => dropped.get(application) ?? 0,
    forget(flag) {
      for (const names of [...byApplication.values()]) {
        const name = names.get(flag);
        if (name) remove(name);
      }
    },
    removeApplication(application) {
      for (const name of [...(byApplication.get(application)?.values() ?? [])]) remove(name);
      dropped.delete(application);
    },
    drop: ({ unseenSince }) => [
      visitInSlices(all.values(), (name) => {
        if (name.at < unseenSince) remove(name);
      }),
    ],
  };
}

function toUsage({ application, flag, count }: UnknownName): FlagUsage {
  return { application, flag, count };
}

function keyOf(application: string, flag: string): string {
  return JSON.stringify([application, flag]);
}
