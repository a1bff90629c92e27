import type { Flags, FlagsEvent } from '@flags/core';
import { affectedFlags } from './affected-flags.js';

/**
 * Tells the names of the flags whose answers in an environment may have changed, once the new answers are given. Changes
 * that come close together are told at once.
 *
 * @returns a function that ends it
 */
export function watchChanges(
  flags: Flags,
  environment: string,
  tell: (names: ReadonlySet<string>) => void,
): () => void {
  const waiting: FlagsEvent[] = [];
  let isDelivering = false;
  let hasEnded = false;

  async function deliver(): Promise<void> {
    isDelivering = true;
    while (waiting.length > 0 && !hasEnded) {
      const events = waiting.splice(0);
      // The event of another process may come before its change is evaluated here.
      await flags.refresh();
      const names = affectedFlags(events, flags.configuration({ environment }));
      if (names.size > 0 && !hasEnded) tell(names);
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
