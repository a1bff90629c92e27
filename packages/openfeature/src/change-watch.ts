import type { Flags, FlagsEvent } from '@flags/core';
import { affectedFlags } from './affected-flags.js';

/**
 * Notifies of flags whose evaluation in an environment may have changed, once the new evaluation is in effect. Batches
 * changes that arrive together.
 *
 * @returns a function that unsubscribes
 */
export function watchChanges(
  flags: Flags,
  environment: string,
  notify: (names: ReadonlySet<string>) => void,
): () => void {
  const waiting: FlagsEvent[] = [];
  let isDelivering = false;
  let hasEnded = false;

  async function deliver(): Promise<void> {
    isDelivering = true;
    while (waiting.length > 0 && !hasEnded) {
      const events = waiting.splice(0);
      // An event of another process may arrive before its change is evaluated here.
      await flags.refresh();
      const names = affectedFlags(events, flags.configuration({ environment }));
      if (names.size > 0 && !hasEnded) notify(names);
    }
    isDelivering = false;
  }

  const unsubscribe = flags.subscribe((event) => {
    if (event.environment !== null && event.environment !== environment) return;
    waiting.push(event);
    if (!isDelivering) void deliver();
  });

  return () => {
    hasEnded = true;
    unsubscribe();
  };
}
