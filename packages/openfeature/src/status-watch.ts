import type { Flags } from '@flags/core';
import { ProviderEvents } from '@openfeature/server-sdk';

type StatusEvent = ProviderEvents.Ready | ProviderEvents.Stale;

/**
 * Tells when the flags become stale, and when they are current again.
 *
 * @param interval milliseconds; 0: never
 * @returns a function that ends it
 */
export function watchStatus(
  flags: Flags,
  interval: number,
  tell: (event: StatusEvent, message: string) => void,
): () => void {
  if (interval === 0) return () => undefined;
  let known = 'current';

  function look(): void {
    const { state, checkedAt } = flags.status();
    if (state === known) return;
    known = state;
    if (state === 'stale') tell(ProviderEvents.Stale, `Changes of other processes cannot be read since ${checkedAt}.`);
    else tell(ProviderEvents.Ready, 'The flags are current again.');
  }

  const timer = setInterval(look, interval).unref();
  return () => clearInterval(timer);
}
