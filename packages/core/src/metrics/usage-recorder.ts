import { setImmediate } from 'node:timers/promises';
import { groupBy } from '../collections.js';
import type { MetricsStorage, ReportedCount } from '../storage/metrics-port.js';
import { addVariants } from '../storage/timed-usage.js';
import { runsOf } from './report-parts.js';
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
