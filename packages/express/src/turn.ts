import { setImmediate } from './immediate.js';

/**
 * Resolves when everything that has arrived by now was taken in, before the next is waited for: once for all who ask in the
 * same turn of the event loop.
 */
export function createTurn(): () => Promise<void> {
  let next: Promise<void> | undefined;
  return () => {
    next ??= new Promise<void>((resolve) => {
      setImmediate(() => {
        next = undefined;
        resolve();
      });
    });
    return next;
  };
}
