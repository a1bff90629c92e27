import type { MetricsStorage } from '../storage/metrics-port.js';

const HOUR = 3_600_000;

export interface MetricsRetention {
  /** Drops what is no longer needed, at most once an hour. A failure is told, not thrown: a report has been taken. */
  pruneWhenDue(): Promise<void>;
  /** Whether an application that was last seen then may have been dropped; long before it is, as other clocks may be ahead. */
  mayHaveDropped(seenAt: number): boolean;
  /** Forgets flags that were deleted. A failure is told, not thrown: they are gone. */
  forget(flags: readonly string[]): Promise<void>;
}

export interface RetentionOptions {
  readonly metrics: MetricsStorage;
  /** Whether there is a flag of this name, archived or not. */
  readonly isFlag: (name: string) => boolean;
  readonly now: () => Date;
  /** How long applications that are not seen are kept, in milliseconds. */
  readonly applicationRetention: number;
  readonly onError: (error: unknown) => void;
}

/**
 * Keeps metrics bounded without a timer: reports are what makes them grow, so reports have them pruned; the first one of
 * a process too, as it may not live for an hour.
 */
export function createMetricsRetention(options: RetentionOptions): MetricsRetention {
  const { metrics, isFlag, now, applicationRetention, onError } = options;
  let due = now().getTime();

  async function prune(time: number): Promise<void> {
    await metrics.prune({ countersUntil: time - HOUR, unseenSince: time - applicationRetention, isFlag });
  }

  return {
    async pruneWhenDue() {
      const time = now().getTime();
      // A clock that was set back would otherwise put it off until it gets there again.
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
