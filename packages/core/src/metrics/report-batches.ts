import { setImmediate } from 'node:timers/promises';
import { isFlagsError } from '../errors.js';
import type { UsageReport } from './port.js';

/** Reports that wait for each other, to be written together. */
export interface ReportBatches {
  /** Resolves when the reports have been written, rejects when they have not: all of them or none. */
  add(reports: readonly UsageReport[]): Promise<void>;
}

/** Writes reports whole or not at all, and says so. It calls `take` when it begins, and again when it begins anew. */
export type WriteReports = (take: () => readonly UsageReport[]) => Promise<void>;

interface Batch {
  readonly calls: (readonly UsageReport[])[];
  readonly written: Promise<void>;
}

/** A lone report waits for one turn of the event loop; no report waits for more than these. */
const MOST_TURNS = 4;
/** Bounds how long one transaction keeps the event loop and other processes waiting. */
const LARGEST_BATCH = 256;

/**
 * A batch is open until it is written. While every turn of the event loop brings more, for some turns, it is not even
 * begun: a flush to disk costs as much as reading many requests. What is refused does not take with it what else is in
 * its batch.
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
    const written = gathered(calls)
      .then(() => write(take))
      .finally(end);
    return { calls, written };
  }

  return {
    async add(reports) {
      if (open === undefined || open.calls.length === LARGEST_BATCH) open = begin();
      const { calls, written } = open;
      calls.push(reports);
      try {
        await written;
      } catch (error) {
        // Of a fault that is known it is known that the others would meet it too.
        if (calls.length === 1 || isFlagsError(error)) throw error;
        await write(() => reports);
      }
    },
  };
}

async function gathered(calls: readonly unknown[]): Promise<void> {
  let known = 1;
  for (let turn = 0; turn < MOST_TURNS; turn++) {
    await setImmediate();
    if (calls.length === known) return;
    known = calls.length;
  }
}
