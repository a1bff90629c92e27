import { compareCodePoints } from '../../base/collections.js';
import { LIMITS } from '../../base/limits.js';
import { boundedSum } from '../counters.js';
import type { FlagCount, FlagUsage, UsageQuery } from '../metrics-port.js';

/** Counts the memory that applications take, in estimated bytes. */
export interface MemoryBudget {
  hasRoom(size: number): boolean;
  /** Takes memory, or releases it if `size` is negative. */
  take(size: number): void;
}

export function createMemoryBudget(): MemoryBudget {
  let used = 0;
  return {
    hasRoom: (size) => used + size <= LIMITS.applicationsInMemory,
    take(size) {
      used += size;
    },
  };
}

/** Counts how often each application evaluated each flag. A new pair is not stored if the budget is exhausted. */
export function createMemoryUsage(budget: MemoryBudget) {
  const counts = new Map<string, Map<string, number>>();
  const applications = new Map<string, Set<string>>();

  function remove(application: string, flag: string): void {
    budget.take(-sizeOf(flag));
    const flags = counts.get(application);
    flags?.delete(flag);
    if (flags?.size === 0) counts.delete(application);
    const users = applications.get(flag);
    users?.delete(application);
    if (users?.size === 0) applications.delete(flag);
  }

  function* byApplication(after: UsageQuery['after']): Iterable<FlagUsage> {
    for (const application of sortedFrom(counts.keys(), after?.application)) {
      const isFirst = application === after?.application;
      for (const flag of sortedFrom(counts.get(application)?.keys() ?? [], isFirst ? after.flag : undefined)) {
        if (!isFirst || flag !== after.flag) yield toUsage(application, flag);
      }
    }
  }

  function* byFlag(after: UsageQuery['after']): Iterable<FlagUsage> {
    for (const flag of sortedFrom(applications.keys(), after?.flag)) {
      const isFirst = flag === after?.flag;
      for (const application of sortedFrom(applications.get(flag) ?? [], isFirst ? after.application : undefined)) {
        if (!isFirst || application !== after.application) yield toUsage(application, flag);
      }
    }
  }

  function toUsage(application: string, flag: string): FlagUsage {
    return { application, flag, count: counts.get(application)?.get(flag) ?? 0 };
  }

  return {
    add(application: string, added: readonly FlagCount[]): void {
      if (added.length === 0) return;
      const flags = counts.get(application) ?? new Map<string, number>();
      for (const { flag, yes, no } of added) {
        const before = flags.get(flag);
        if (before !== undefined) {
          flags.set(flag, boundedSum(before, yes + no));
        } else if (budget.hasRoom(sizeOf(flag))) {
          budget.take(sizeOf(flag));
          flags.set(flag, boundedSum(yes, no));
          applications.set(flag, (applications.get(flag) ?? new Set<string>()).add(application));
        }
      }
      if (flags.size > 0) counts.set(application, flags);
    },
    flagsOf: (application: string): readonly string[] => [...(counts.get(application)?.keys() ?? [])],
    forget(flag: string): void {
      for (const application of [...(applications.get(flag) ?? [])]) remove(application, flag);
    },
    removeApplication(application: string): void {
      for (const flag of [...(counts.get(application)?.keys() ?? [])]) remove(application, flag);
    },
    read({ order = 'application', after, limit = Number.POSITIVE_INFINITY }: UsageQuery): FlagUsage[] {
      const page: FlagUsage[] = [];
      for (const pair of order === 'application' ? byApplication(after) : byFlag(after)) {
        if (page.length >= limit) break;
        page.push(pair);
      }
      return page;
    },
  };
}

/** Returns the names from `first` on, in code-point order. */
function sortedFrom(names: Iterable<string>, first: string | undefined): string[] {
  const later = [...names].filter((name) => first === undefined || compareCodePoints(name, first) >= 0);
  return later.sort(compareCodePoints);
}

/** Estimated size of a pair in both maps, in bytes. */
function sizeOf(flag: string): number {
  return 150 + flag.length;
}
