import { randomUUID } from 'node:crypto';
import { groupBy } from '../../base/collections.js';
import type { EnvironmentCount } from '../../evaluation/usage-counters.js';
import type { UsageBatch } from '../../storage/usage/port.js';
import { BATCH_SIZE, chunksOf, REPORT_SIZE } from './usage-batches.js';
import type { UsageWriter } from './usage-writer.js';

/** Records the evaluation counts of this process. */
export interface UsageRecorder {
  /** Records the counts since the last flush. After an error it keeps the counts for the next flush. */
  flush(): Promise<void>;
  /** Drops the pending counts of a deleted flag. */
  forget(flag: string): void;
  /** Stops the timer and records the pending counts. */
  close(): Promise<void>;
}

export interface UsageOptions {
  readonly writer: Pick<UsageWriter, 'record' | 'prune'>;
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
 * Records the evaluations of this process into the usage that other processes report to. After an error it repeats the same
 * batches, which count once, and leaves later counts to the evaluation until these are stored.
 */
export function startUsageRecorder(options: UsageOptions): UsageRecorder {
  const { writer, now, drain, onError } = options;
  /** Batches with an unknown outcome. */
  let pending: UsageBatch[] = [];
  let isFailureReported = false;
  let closing = false;
  let latest: Promise<void> = Promise.resolve();

  async function record(): Promise<void> {
    try {
      await recordPending();
      pending = [...chunksOf(drain(), BATCH_SIZE - 2 * REPORT_SIZE, sizeOf)].map(toBatch);
      await recordPending();
      isFailureReported = false;
    } catch (error) {
      if (!isFailureReported || closing) onError(error);
      isFailureReported = true;
    }
  }

  async function recordPending(): Promise<void> {
    for (let [batch] = pending; batch !== undefined; [batch] = pending) {
      await writer.record([batch]);
      await writer.prune();
      pending = pending.slice(1);
    }
  }

  /** Registers the application with its counts, because the storage may have dropped it. */
  function toBatch(counts: readonly EnvironmentCount[]): UsageBatch {
    const at = now().getTime();
    const origin = { application: options.application, instance: { id: options.instance } };
    const reports = [...groupBy(counts, ({ environment }) => environment)].map(([environment, counted]) => {
      return { ...origin, stop: at, environment, counts: counted.map(({ environment: _, ...count }) => count) };
    });
    return { id: randomUUID(), at, reports, registrations: [{ ...origin, strategies: options.strategies }] };
  }

  /** Flushes run one at a time, so that a failed flush repeats its batches before the next one starts. */
  function flush(): Promise<void> {
    latest = latest.then(record);
    return latest;
  }

  const timer = options.interval > 0 ? setInterval(() => void flush(), options.interval).unref() : undefined;
  return {
    flush,
    forget(flag) {
      pending = pending.map((batch) => withoutFlag(batch, flag));
    },
    close() {
      clearInterval(timer);
      closing = true;
      return flush();
    },
  };
}

function sizeOf({ variants }: EnvironmentCount): number {
  return 1 + (variants?.length ?? 0);
}

function withoutFlag(batch: UsageBatch, flag: string): UsageBatch {
  const { reports = [] } = batch;
  const kept = reports.map((report) => ({ ...report, counts: report.counts.filter((count) => count.flag !== flag) }));
  return { ...batch, reports: kept };
}
