import { isFlagsError } from '../errors.js';
import type { UsageReport } from './metrics-port.js';

/** Reports that wait for each other, to be written together. */
export interface ReportBatches {
  /** Resolves when the reports have been written, rejects when they have not: all of them or none. */
  add(reports: readonly UsageReport[]): Promise<void>;
}

/**
 * Writes reports whole or not at all, and says so. It calls `take` later, when it begins, and again when it begins anew; and
 * `onBusy` when it could not begin, and will try again until its time is over.
 */
export type WriteReports = (take: () => readonly UsageReport[], onBusy: () => void) => Promise<void>;

interface Batch {
  readonly calls: (readonly UsageReport[])[];
  /** How many counts its reports have. */
  size: number;
  readonly written: Promise<void>;
}

/** Bounds how long one transaction keeps the event loop and other processes waiting. */
const LARGEST_BATCH = 256;
/** So many counts fill a batch, too. */
const LARGEST_SIZE = 2000;

/**
 * A batch is open until its first attempt to be written: it has the time of its first call, which must not end for one that
 * comes late. What is refused does not take with it what else is in its batch.
 */
export function createReportBatches(write: WriteReports): ReportBatches {
  let open: Batch | undefined;

  function begin(): Batch {
    const calls: Batch['calls'][number][] = [];
    const end = () => {
      if (open?.calls === calls) open = undefined;
    };
    const take = () => {
      end();
      return calls.flat();
    };
    // A transaction that could not even begin has taken nothing.
    return { calls, size: 0, written: write(take, end).finally(end) };
  }

  return {
    async add(reports) {
      if (open === undefined || open.calls.length === LARGEST_BATCH || open.size >= LARGEST_SIZE) open = begin();
      const { calls, written } = open;
      calls.push(reports);
      open.size += sizeOf(reports);
      try {
        await written;
      } catch (error) {
        // Of a fault that is known it is known that the others would meet it too.
        if (calls.length === 1 || isFlagsError(error)) throw error;
        await write(
          () => reports,
          () => undefined,
        );
      }
    },
  };
}

function sizeOf(reports: readonly UsageReport[]): number {
  return reports.reduce((sum, { counts, unknown = [] }) => sum + counts.length + unknown.length, 0);
}
