import { compareCodePoints } from '../../base/collections.js';
import { LIMITS } from '../../base/limits.js';
import { boundedSum } from '../counters.js';
import type {
  ReportedCount,
  Retention,
  TimedUsage,
  TimedUsageKey,
  TimedUsageQuery,
  UsageReport,
  VariantCount,
} from '../metrics-port.js';
import { repeatInSlices, type SlicedWork, visitInSlices } from '../slices.js';
import { compareTimedUsage, firstKept, hourOf, mergeTimedUsage, sortedVariants, startOf } from '../timed-usage.js';

interface Counts {
  readonly application: string;
  readonly environment: string;
  yes: number;
  no: number;
  /** Most flags have no variants, and need no map. */
  variants: Map<string, number> | undefined;
}

type Series = Omit<TimedUsageKey, 'flag'>;

const NO_VARIANTS: readonly VariantCount[] = [];

/** Counts by start, then flag, then application and environment. */
type Periods = Map<number, Map<string, Map<string, Counts>>>;

/**
 * Stores timed usage by the hour. Pruning moves old hours to their days. Drops the oldest rows beyond
 * `LIMITS.usageRowsInMemory`.
 */
export function memoryTimedUsage() {
  const hours: Periods = new Map();
  const days: Periods = new Map();
  let size = 0;

  function add(periods: Periods, { start, application, environment }: Series, counts: readonly ReportedCount[]): void {
    if (counts.length === 0) return;
    const flags = periods.get(start) ?? new Map<string, Map<string, Counts>>();
    periods.set(start, flags);
    const key = `${environment.length} ${environment}${application}`;
    for (const { flag, yes, no, variants = NO_VARIANTS } of counts) {
      const all = flags.get(flag) ?? new Map<string, Counts>();
      const known = all.get(key);
      if (known === undefined) {
        const created = { application, environment, yes, no, variants: undefined };
        flags.set(flag, all.set(key, created));
        size += 1;
        countVariants(created, variants);
        continue;
      }
      known.yes = boundedSum(known.yes, yes);
      known.no = boundedSum(known.no, no);
      countVariants(known, variants);
    }
  }

  function countVariants(counted: Counts, counts: readonly VariantCount[]): void {
    if (counts.length === 0) return;
    const variants = counted.variants ?? new Map<string, number>();
    counted.variants = variants;
    size -= variants.size;
    for (const { variant, count } of counts) variants.set(variant, boundedSum(variants.get(variant) ?? 0, count));
    size += variants.size;
  }

  function removeFlag(periods: Periods, start: number, flag: string): readonly Counts[] {
    const flags = periods.get(start);
    const removed = [...(flags?.get(flag)?.values() ?? [])];
    flags?.delete(flag);
    if (flags?.size === 0) periods.delete(start);
    size -= removed.reduce((sum, { variants }) => sum + 1 + (variants?.size ?? 0), 0);
    return removed;
  }

  /** Deletes the oldest rows until the limit is kept, a flag at a time. */
  function trim(): number {
    let dropped = 0;
    while (size > LIMITS.usageRowsInMemory) {
      const periods = days.size > 0 ? days : hours;
      const start = Math.min(...periods.keys());
      const [flag] = periods.get(start)?.keys() ?? [];
      if (flag === undefined) return dropped;
      dropped += removeFlag(periods, start, flag).length;
    }
    return dropped;
  }

  /** Moves an hour to its day, a flag at a time. */
  function moveHour(start: number): boolean {
    const [flag] = hours.get(start)?.keys() ?? [];
    if (flag === undefined) return false;
    const day = startOf('day', start);
    for (const { application, environment, yes, no, variants } of removeFlag(hours, start, flag)) {
      add(days, { start: day, application, environment }, [{ flag, yes, no, variants: sortedVariants(variants) }]);
    }
    return true;
  }

  function* rowsOf(flag: string, unit: TimedUsageQuery['unit']): Iterable<TimedUsage> {
    for (const periods of unit === 'hour' ? [hours] : [days, hours]) {
      for (const [start, flags] of periods) {
        for (const { variants, ...counts } of flags.get(flag)?.values() ?? []) {
          yield { flag, ...counts, variants: sortedVariants(variants), start: startOf(unit, start) };
        }
      }
    }
  }

  return {
    /** Returns the number of dropped rows. */
    add(report: UsageReport): number {
      const { application, environment = '', at, counts } = report;
      const hour = hourOf(report);
      const isHour = hour >= firstKept('hour', at);
      const start = isHour ? hour : startOf('day', hour);
      if (!isHour && start < firstKept('day', at)) return 0;
      add(isHour ? hours : days, { start, application, environment }, counts);
      return trim();
    },
    read(
      { unit, from, flag, application, environment, after, limit = Number.POSITIVE_INFINITY }: TimedUsageQuery,
      found: TimedUsage[],
    ): SlicedWork {
      const isWanted = (row: TimedUsage) =>
        row.start >= from &&
        (application === undefined || row.application === application) &&
        (environment === undefined || row.environment === environment) &&
        (after === undefined || compareTimedUsage(row, after) > 0);
      const names = flag === undefined ? namesIn([hours, days], after?.flag) : [flag];
      let index = 0;
      return repeatInSlices(() => {
        const name = names[index++];
        if (name === undefined || found.length >= limit) return false;
        const rows = [...rowsOf(name, unit)].filter(isWanted).sort(compareTimedUsage);
        found.push(...mergeTimedUsage(rows).slice(0, limit - found.length));
        return true;
      });
    },
    forget(flag: string): void {
      for (const periods of [hours, days]) for (const start of [...periods.keys()]) removeFlag(periods, start, flag);
    },
    drop: ({ hoursBefore = 0, daysBefore = 0 }: Retention): readonly SlicedWork[] => [
      ...[...hours.keys()].flatMap((start) => (start < hoursBefore ? [repeatInSlices(() => moveHour(start))] : [])),
      visitInSlices([...days.keys()], (start) => {
        if (start >= daysBefore) return;
        for (const flag of [...(days.get(start)?.keys() ?? [])]) removeFlag(days, start, flag);
      }),
    ],
  };
}

/** Returns the names of flags from `first` on, in code-point order. */
function namesIn(all: readonly Periods[], first: string | undefined): readonly string[] {
  const names = new Set<string>();
  for (const periods of all) for (const flags of periods.values()) for (const flag of flags.keys()) names.add(flag);
  const later = first === undefined ? [...names] : [...names].filter((name) => compareCodePoints(name, first) >= 0);
  return later.sort(compareCodePoints);
}
