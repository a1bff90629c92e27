import type { Flags } from '@flags/core';
import { ProviderEvents } from '@openfeature/server-sdk';

type StatusEvent = ProviderEvents.Ready | ProviderEvents.Stale;

/**
 * Polls the status, and notifies when the flags become stale or current again.
 *
 * @param interval milliseconds; 0: never
 * @returns a function that stops polling
 */
export function watchStatus(
  flags: Flags,
  interval: number,
  notify: (event: StatusEvent, message: string) => void,
): () => void {
  if (interval === 0) return () => undefined;
  let lastState = 'current';

  function poll(): void {
    const { state, checkedAt } = flags.status();
    if (state === lastState) return;
    lastState = state;
    if (state === 'stale')
      notify(ProviderEvents.Stale, `Changes of other processes cannot be read since ${checkedAt}.`);
    else notify(ProviderEvents.Ready, 'The flags are current again.');
  }

  const timer = setInterval(poll, interval).unref();
  return () => clearInterval(timer);
}
