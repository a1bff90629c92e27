import type { Flags, FlagsEvent } from '@flags/core';
import type { EnvironmentConfiguration, FlagConfiguration } from '@flags/core/types';
import { ProviderEvents } from '@openfeature/server-sdk';

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
      // The event of another process may arrive before this process evaluates its change.
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

/** The flags whose evaluation events may have changed: directly, through a segment, or through a parent. */
function affectedFlags(events: readonly FlagsEvent[], { flags }: EnvironmentConfiguration): ReadonlySet<string> {
  const segments = new Set(events.flatMap(segmentOf));
  const names = new Set(events.flatMap(({ flag }) => flag ?? []));
  for (const flag of flags) if (usesAny(segments, flag)) names.add(flag.name);
  const children = flags.filter(({ dependencies }) => dependencies?.some(({ flag }) => names.has(flag)));
  return new Set([...names, ...children.map(({ name }) => name)]);
}

function segmentOf({ type, data, before }: FlagsEvent): readonly unknown[] {
  if (!type.startsWith('segment-')) return [];
  const segment = (data ?? before) as { readonly id?: unknown } | null;
  return [segment?.id];
}

function usesAny(ids: ReadonlySet<unknown>, { strategies }: FlagConfiguration): boolean {
  return ids.size > 0 && strategies.some(({ segments }) => segments?.some((id) => ids.has(id)));
}

type StatusEvent = ProviderEvents.Ready | ProviderEvents.Stale;

/**
 * Polls the status, and notifies when the flags become stale or current again.
 *
 * @param interval milliseconds; 0 disables polling
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
