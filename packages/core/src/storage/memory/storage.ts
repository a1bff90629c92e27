import { FlagsError } from '../../errors.js';
import { applyCommit, prepareCommit } from '../commit.js';
import { withChangeHook } from '../metrics-composition.js';
import type { Storage } from '../port.js';
import { memoryDocuments } from './documents.js';
import { memoryEvents } from './events.js';
import { memoryMetrics } from './metrics.js';

/**
 * Keeps everything in this process's memory: nothing to install, gone when the process ends, invisible to other
 * processes. Within the process it gives every guarantee of {@link Storage}: of two simultaneous commits that expect
 * the same revision exactly one succeeds.
 *
 * After `close` every call fails with `closed`. A value that JSON cannot express (a cycle, a `bigint`) fails with the
 * `TypeError` of `JSON.stringify` and changes nothing.
 *
 * @example
 * const flags = await createFlags({ storage: memoryStorage() });
 */
export function memoryStorage(): Storage {
  const documents = memoryDocuments();
  const events = memoryEvents();
  let changes = 0;
  const metrics = withChangeHook(memoryMetrics(), () => {
    changes += 1;
  });
  let closed = false;

  function assertOpen(): void {
    if (closed) throw new FlagsError('closed', 'The storage has been closed.');
  }

  return {
    metrics,
    async get(key) {
      assertOpen();
      return documents.get(key);
    },
    async list(query) {
      assertOpen();
      return documents.list(query);
    },
    // Without an await between the checks and the writes: that is what makes the commit atomic.
    async commit(commit) {
      assertOpen();
      changes += 1;
      return applyCommit(prepareCommit(commit), { documents, events });
    },
    async dataVersion() {
      assertOpen();
      return String(changes);
    },
    async events(query) {
      assertOpen();
      return events.query(query);
    },
    async close() {
      closed = true;
      await metrics.close();
    },
  };
}
