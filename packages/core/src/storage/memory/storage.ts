import { FlagsError } from '../../errors.js';
import { applyCommit, prepareCommit } from '../commit.js';
import { withChangeHook } from '../metrics-composition.js';
import type { Storage } from '../port.js';
import { memoryDocuments } from './documents.js';
import { memoryEvents } from './events.js';
import { memoryMetrics } from './metrics.js';

/**
 * Creates a storage in the memory of this process. Other processes cannot see it, and it ends with the process.
 *
 * Within the process it gives every guarantee of {@link Storage}: of two concurrent commits that expect the same revision
 * exactly one succeeds.
 *
 * After `close` every call throws `closed`. A value that JSON cannot express (a cycle, a `bigint`) throws the `TypeError` of
 * `JSON.stringify` and changes nothing.
 *
 * @example
 * const flags = await createFlags({ storage: memoryStorage() });
 */
export function memoryStorage(): Storage {
  const documents = memoryDocuments();
  const events = memoryEvents(documents);
  let changes = 0;
  const metrics = withChangeHook(memoryMetrics(), () => {
    changes += 1;
  });
  let closed = false;

  function assertOpen(): void {
    if (closed) throw closedError();
  }

  return {
    metrics,
    get: (key) => (closed ? Promise.reject(closedError()) : documents.get(key)),
    peek: documents.peek,
    async list(query) {
      assertOpen();
      return documents.list(query);
    },
    // Atomic, because nothing awaits between the checks and the writes.
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

function closedError(): FlagsError {
  return new FlagsError('closed', 'The storage has been closed.');
}
