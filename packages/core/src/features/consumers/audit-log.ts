import type { Writable } from 'node:stream';
import type { ConsumerHandler } from './consumer.types.js';

/**
 * Returns a handler for `consume` that writes each event as one line of JSON. It waits until the stream has written them, and
 * throws if that fails, so that they are repeated. A reader drops repetitions by `position`.
 *
 * @param stream of a file, a socket or a process. The caller opens and ends it
 * @example
 * await flags.consume('audit', auditLog(createWriteStream('audit.jsonl', { flags: 'a' })), { from: 'beginning' });
 */
export function auditLog(stream: Writable): ConsumerHandler {
  return async (events, { signal }) => {
    const lines = events.map((event) => `${JSON.stringify(event)}\n`).join('');
    // The write reports the error. Without a listener, the event of the same error would end the process.
    const ignore = () => undefined;
    stream.on('error', ignore);
    let end: () => void = ignore;
    try {
      await new Promise<void>((resolve, reject) => {
        end = () => reject(signal.reason);
        signal.addEventListener('abort', end);
        stream.write(lines, (error) => (error ? reject(error) : resolve()));
      });
    } finally {
      signal.removeEventListener('abort', end);
      setImmediate(() => stream.off('error', ignore));
    }
  };
}
