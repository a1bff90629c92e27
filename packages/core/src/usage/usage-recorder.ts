import { setImmediate } from 'node:timers/promises';
import { groupBy } from '../base/collections.js';
import type { ApplicationRegistration, MetricsStorage, ReportedCount, UsageReport } from '../storage/metrics-port.js';
import { addVariants } from '../storage/timed-usage.js';
import type { MetricsRetention } from './retention.js';

/** Records the evaluation counts of this process. */
export interface UsageRecorder {
  /** Records the counts since the last flush. After an error it keeps the counts for the next flush. */
  flush(): Promise<void>;
  /** Drops the pending counts of a deleted flag. */
  forget(flag: string): void;
  /** Stops the timer and records the pending counts. */
  close(): Promise<void>;
}

/** The evaluations of a flag in one environment. */
export interface EnvironmentCount extends ReportedCount {
  readonly environment: string;
}

export interface UsageOptions {
  readonly metrics: MetricsStorage;
  readonly retention: Pick<MetricsRetention, 'pruneWhenDue' | 'mayHaveDropped'>;
  readonly now: () => Date;
  readonly application: string;
  readonly instance: string;
  /** Names of the strategies that this process evaluates. */
  readonly strategies: readonly string[];
  /** Milliseconds between flushes; 0 disables the timer. */
  readonly interval: number;
  /** Returns and resets the counts, each flag at most once per environment. */
  readonly drain: () => readonly EnvironmentCount[];
  /** Called with the first error of a series, and with an error of the last flush, which loses counts. */
  readonly onError: (error: unknown) => void;
}

/**
 * Records the evaluations of this process into the metrics that other processes report to. While recording fails, the
 * counts stay in memory, with one pair of numbers per flag and environment, and one number per variant.
 */
export function startUsageRecorder(options: UsageOptions): UsageRecorder {
  const { retention, drain, onError } = options;
  const send = createSender(options);
  const waiting = createTally();
  // Flags deleted during the current flush. If the flush fails, it must not restore their counts.
  const deletedFlags = new Set<string>();
  let isFailureReported = false;
  let closing = false;
  let latest: Promise<void> = Promise.resolve();

  async function record(): Promise<void> {
    deletedFlags.clear();
    waiting.add(drain());
    const counts = waiting.take();
    if (counts.length === 0) return;
    let stored = 0;
    try {
      for (const part of runsOf(counts)) {
        if (stored > 0) await setImmediate();
        await send(part.filter(({ flag }) => !deletedFlags.has(flag)));
        stored += part.length;
      }
      isFailureReported = false;
    } catch (error) {
      waiting.add(counts.slice(stored).filter(({ flag }) => !deletedFlags.has(flag)));
      if (!isFailureReported || closing) onError(error);
      isFailureReported = true;
      return;
    }
    await retention.pruneWhenDue();
  }

  /** Flushes run one at a time, so that a failed flush restores its counts before the next one starts. */
  function flush(): Promise<void> {
    latest = latest.then(record);
    return latest;
  }

  const timer = options.interval > 0 ? setInterval(() => void flush(), options.interval).unref() : undefined;
  return {
    flush,
    forget(flag) {
      waiting.forget(flag);
      deletedFlags.add(flag);
    },
    close() {
      clearInterval(timer);
      closing = true;
      return flush();
    },
  };
}

/** Returns a function that records counts. It registers the application first if the storage may not know it. */
function createSender({ metrics, retention, now, application, instance, strategies }: UsageOptions) {
  const origin = { application, instance: { id: instance } };
  let seenAt: number | undefined;
  return async (counts: readonly EnvironmentCount[]): Promise<void> => {
    const at = now().getTime();
    if (seenAt === undefined || retention.mayHaveDropped(seenAt)) {
      await metrics.register({ ...origin, at, strategies });
      seenAt = at;
    }
    const reports = [...groupBy(counts, ({ environment }) => environment)].map(([environment, counted]) => {
      return { ...origin, at, stop: at, environment, counts: counted.map(({ environment: _, ...count }) => count) };
    });
    await metrics.record(reports);
    seenAt = at;
  };
}

/** Pending counts, summed by environment and flag. */
interface Tally {
  add(counts: readonly EnvironmentCount[]): void;
  /** Returns and removes all counts. */
  take(): readonly EnvironmentCount[];
  forget(flag: string): void;
}

function createTally(): Tally {
  const sums = new Map<string, Map<string, EnvironmentCount>>();
  return {
    add(counts) {
      for (const count of counts) {
        const flags = sums.get(count.environment) ?? new Map<string, EnvironmentCount>();
        const before = flags.get(count.flag);
        sums.set(count.environment, flags.set(count.flag, before ? sumOf(before, count) : count));
      }
    },
    take() {
      const all = [...sums.values()].flatMap((flags) => [...flags.values()]);
      sums.clear();
      return all;
    },
    forget(flag) {
      for (const flags of sums.values()) flags.delete(flag);
    },
  };
}

function sumOf(one: EnvironmentCount, other: EnvironmentCount): EnvironmentCount {
  const variants = addVariants(one.variants, other.variants);
  return { ...one, yes: one.yes + other.yes, no: one.no + other.no, ...(variants.length > 0 && { variants }) };
}

/** What one call of the metrics storage records. */
interface ReportPart {
  readonly reports: readonly UsageReport[];
  readonly registrations: readonly ApplicationRegistration[];
}

/** The most that one part has: a transaction of SQLite then takes some twenty milliseconds. */
const PART_SIZE = 500;

/** A registration, and a report without its counts, each write several rows. */
const REPORT_SIZE = 5;

/**
 * Splits registrations and reports into parts of bounded size, in their order, the registrations first. A report of many
 * flags becomes several reports; its unknown names stay with the last of them.
 */
export function* partsOf(
  reports: readonly UsageReport[],
  registrations: readonly ApplicationRegistration[] = [],
): Generator<ReportPart> {
  let total = 0;
  for (const one of registrations) total += sizeOf(one);
  for (const one of reports) total += sizeOf(one);
  if (total <= PART_SIZE) return yield* total === 0 ? [] : [{ reports, registrations }];
  let part = { reports: [] as UsageReport[], registrations: [] as ApplicationRegistration[] };
  let size = 0;
  for (const one of [...registrations, ...reports.flatMap(splitReport)]) {
    const added = sizeOf(one);
    if (size > 0 && size + added > PART_SIZE) {
      yield part;
      part = { reports: [], registrations: [] };
      size = 0;
    }
    if ('counts' in one) part.reports.push(one);
    else part.registrations.push(one);
    size += added;
  }
  if (size > 0) yield part;
}

function splitReport(report: UsageReport): readonly UsageReport[] {
  const { unknown, droppedNames, ...first } = report;
  const runs = [...runsOf(report.counts)];
  const last = runs.pop();
  if (last === undefined || runs.length === 0) return [report];
  return [...runs.map((counts) => ({ ...first, counts })), { ...report, counts: last }];
}

/** Splits counts into runs of bounded size: at least one count each. */
function* runsOf<Count extends ReportedCount>(counts: readonly Count[]): Generator<readonly Count[]> {
  let start = 0;
  let size = 0;
  for (const [index, count] of counts.entries()) {
    const added = sizeOfCount(count);
    if (index > start && size + added > PART_SIZE - REPORT_SIZE) {
      yield counts.slice(start, index);
      start = index;
      size = 0;
    }
    size += added;
  }
  if (start < counts.length) yield counts.slice(start);
}

function sizeOf(one: UsageReport | ApplicationRegistration): number {
  if (!('counts' in one)) return REPORT_SIZE;
  return one.counts.reduce((sum, count) => sum + sizeOfCount(count), REPORT_SIZE + (one.unknown?.length ?? 0));
}

function sizeOfCount({ variants }: ReportedCount): number {
  return 1 + (variants?.length ?? 0);
}
