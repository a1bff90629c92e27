import { isFlagsError } from '../../errors.js';
import type { UsageReport } from '../metrics-port.js';

/** Merges reports that arrive while an earlier transaction runs into one write, which adds up their counts. */
export interface ReportBatcher {
  /** Resolves when the reports are committed; rejects if none of them was recorded. */
  add(reports: readonly UsageReport[]): Promise<void>;
}

/**
 * Writes reports in one transaction.
 *
 * @param takeReports returns the reports to write; called in each attempt, after the transaction has begun
 * @param onBusy called if the transaction could not begin and another attempt follows
 */
export type WriteReports = (takeReports: () => readonly UsageReport[], onBusy: () => void) => Promise<void>;

interface Batch {
  readonly calls: (readonly UsageReport[])[];
  /** Number of counts in its reports. */
  size: number;
  readonly written: Promise<void>;
}

/** Bounds of one batch, and so of the time that one transaction blocks the event loop and other processes. */
const MAX_CALLS = 256;
const MAX_COUNTS = 2000;

/**
 * A batch accepts calls until its first attempt. It has the deadline of its first call, so a later call must not join a
 * batch that is already waiting for a lock.
 */
export function createReportBatcher(write: WriteReports): ReportBatcher {
  let open: Batch | undefined;

  function openBatch(): Batch {
    const calls: Batch['calls'] = [];
    const close = () => {
      if (open?.calls === calls) open = undefined;
    };
    const takeReports = () => {
      close();
      return calls.flat();
    };
    return { calls, size: 0, written: write(takeReports, close).finally(close) };
  }

  return {
    async add(reports) {
      if (open === undefined || open.calls.length === MAX_CALLS || open.size >= MAX_COUNTS) open = openBatch();
      const { calls, written } = open;
      calls.push(reports);
      open.size += countsIn(reports);
      try {
        await written;
      } catch (error) {
        // A FlagsError would hit every call of the batch. Any other error may come from one call alone.
        if (calls.length === 1 || isFlagsError(error)) throw error;
        await write(
          () => reports,
          () => undefined,
        );
      }
    },
  };
}

function countsIn(reports: readonly UsageReport[]): number {
  return reports.reduce((sum, { counts, unknown = [] }) => sum + counts.length + unknown.length, 0);
}

/** Collects rows by a key of two parts, and merges rows with the same key, so that each row is written once. */
export interface RowMerger<First, Row> {
  add(first: First, second: string, row: Row): void;
  /** Visits the rows in the order in which their keys were added. */
  forEach(visit: (row: Row, first: First, second: string) => void): void;
}

export function createRowMerger<First, Row>(merge: (one: Row, next: Row) => Row): RowMerger<First, Row> {
  const groups = new Map<First, Map<string, Row>>();
  return {
    add(first, second, row) {
      const group = groups.get(first) ?? new Map<string, Row>();
      const before = group.get(second);
      group.set(second, before === undefined ? row : merge(before, row));
      groups.set(first, group);
    },
    forEach(visit) {
      for (const [first, group] of groups) for (const [second, row] of group) visit(row, first, second);
    },
  };
}
