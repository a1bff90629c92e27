import type { MetricsStorage } from '../storage/metrics-port.js';
import { firstKept } from '../storage/timed-usage.js';

const HOUR = 3_600_000;

export interface MetricsRetention {
  /** Drops old metrics, at most once an hour. Passes errors to `onError`, because the caller's report is recorded. */
  pruneWhenDue(): Promise<void>;
  /** Whether an application last seen then may have been dropped. Becomes true early, to allow for clock skew. */
  mayHaveDropped(seenAt: number): boolean;
  /** Drops the metrics of deleted flags. Passes errors to `onError`, because the deletion is committed. */
  forget(flags: readonly string[]): Promise<void>;
}

export interface RetentionOptions {
  readonly metrics: MetricsStorage;
  /** Whether a flag of this name exists, archived or not. */
  readonly isFlag: (name: string) => boolean;
  readonly now: () => Date;
  /** Milliseconds after which an application without registrations and reports is dropped. */
  readonly applicationRetention: number;
  readonly onError: (error: unknown) => void;
}

/**
 * Bounds the stored metrics without a timer. Only reports and registrations add metrics, so they trigger the pruning.
 * The first one of a process prunes too, because the process may end within an hour.
 */
export function createMetricsRetention(options: RetentionOptions): MetricsRetention {
  const { metrics, isFlag, now, applicationRetention, onError } = options;
  let due = now().getTime();

  async function prune(time: number): Promise<void> {
    await metrics.prune({
      countersUntil: time - HOUR,
      hoursBefore: firstKept('hour', time),
      daysBefore: firstKept('day', time),
      unseenSince: time - applicationRetention,
      isFlag,
    });
  }

  return {
    async pruneWhenDue() {
      const time = now().getTime();
      // After the clock was set back, `due` is too far ahead.
      if (time < due && time > due - 2 * HOUR) return;
      due = time + HOUR;
      await prune(time).catch(onError);
    },
    mayHaveDropped: (seenAt) => now().getTime() - seenAt >= applicationRetention / 2,
    async forget(flags) {
      await Promise.all(flags.map(async (flag) => metrics.forget(flag))).catch(onError);
    },
  };
}
