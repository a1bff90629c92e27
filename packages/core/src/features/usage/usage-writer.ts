import { paced } from '../../base/paced.js';
import type {
  ApplicationRegistration,
  DroppedUsage,
  ReportedCount,
  UsageBatch,
  UsageReport,
  UsageStorage,
} from '../../storage/usage/port.js';
import { addDropped, HOUR, MINUTE, NOTHING_DROPPED } from '../../storage/usage/rules.js';
import { REPORT_SIZE } from './usage-batches.js';

/**
 * Counts between two prunings, at most. A storage may exceed its bounds by that many rows, by their variants, and by what is
 * recorded while a pruning runs.
 */
const COUNTS_BETWEEN_PRUNINGS = 50_000;

export interface UsageWriter {
  /** The numbers of items that limits have dropped since the writer was created. */
  readonly dropped: DroppedUsage;
  /** Records batches, one after the other. Other work runs in between, so that large reports do not block it. */
  record(batches: Iterable<UsageBatch>): Promise<void>;
  /**
   * Prunes if that is due and no pruning runs. Call it after `record`, without making a reporter wait: a pruning may take
   * seconds. Passes errors to `onError`.
   */
  prune(): Promise<void>;
  /** Deletes the usage of deleted flags. Passes errors to `onError`, because the deletion is committed. */
  forget(flags: readonly string[]): Promise<void>;
}

export interface WriterOptions {
  readonly usage: UsageStorage;
  /** Whether a flag of this name exists, archived or not. */
  readonly isFlag: (name: string) => boolean;
  readonly now: () => Date;
  /** Milliseconds after which an application without registrations and reports is dropped. */
  readonly retention: number;
  readonly onError: (error: unknown) => void;
}

/**
 * Writes usage, and prunes it without a timer. Only batches add usage, so they trigger the pruning: once a minute,
 * and once an hour for names that were not seen for long. The first batch of a process also prunes, because the process
 * may end within an hour.
 */
export function createUsageWriter(options: WriterOptions): UsageWriter {
  const { usage, isFlag, now, retention, onError } = options;
  const [isPruningDue, isUnseenDue] = [every(MINUTE), every(HOUR)];
  let dropped = NOTHING_DROPPED;
  let written = 0;
  let isPruning = false;

  // Adds only after the wait: recording and pruning may run at the same time.
  function count(more: DroppedUsage): void {
    dropped = addDropped(dropped, more);
  }

  async function prune(): Promise<void> {
    const time = now().getTime();
    if (isPruning || (!isPruningDue(time) && written < COUNTS_BETWEEN_PRUNINGS)) return;
    isPruning = true;
    written = 0;
    const unseen = isUnseenDue(time) && { unseen: { since: time - retention, isFlag } };
    try {
      count(await usage.prune({ now: time, ...unseen }));
    } catch (error) {
      onError(error);
    } finally {
      isPruning = false;
    }
  }

  return {
    prune,
    get dropped() {
      return dropped;
    },
    async record(batches) {
      for await (const batch of paced(batches)) {
        count(await usage.record(batch));
        const { reports = [], registrations = [] } = batch;
        for (const one of [...reports, ...registrations]) written += sizeOf(one);
      }
    },
    async forget(flags) {
      try {
        if (flags.length > 0) await usage.forget({ flags });
      } catch (error) {
        onError(error);
      }
    },
  };
}

/** Returns a function that returns whether an interval has passed since it last returned true. */
function every(interval: number): (time: number) => boolean {
  let due = Number.NEGATIVE_INFINITY;
  return (time) => {
    // After the clock was set back, `due` is too far ahead.
    if (time < due && time > due - 2 * interval) return false;
    due = time + interval;
    return true;
  };
}

function isReport(one: UsageReport | ApplicationRegistration): one is UsageReport {
  return 'counts' in one;
}

function sizeOf(one: UsageReport | ApplicationRegistration): number {
  if (!isReport(one)) return REPORT_SIZE;
  return one.counts.reduce((sum, count) => sum + sizeOfCount(count), REPORT_SIZE + (one.unknown?.length ?? 0));
}

function sizeOfCount({ variants }: ReportedCount): number {
  return 1 + (variants?.length ?? 0);
}
