import type { ConfigurationChange, Flags } from '@flags/core';
import { nextTurn } from '@flags/core/integration/shared';
import { ProviderEvents } from '@openfeature/server-sdk';

/**
 * Notifies of flags whose evaluation in an environment has changed. Batches changes of one turn of the event loop.
 *
 * @returns a function that unsubscribes
 */
export function watchChanges(
  flags: Flags,
  environment: string,
  notify: (names: ReadonlySet<string>) => void,
): () => void {
  const waiting: ConfigurationChange[] = [];
  let hasEnded = false;

  function deliver(): void {
    const names = affectedFlags(flags, environment, waiting.splice(0));
    if (names.size > 0 && !hasEnded) notify(names);
  }

  const unsubscribe = flags.onConfigurationChange((change) => {
    if (change.environment !== environment) return;
    waiting.push(change);
    if (waiting.length === 1) void nextTurn().then(deliver);
  });

  return () => {
    hasEnded = true;
    unsubscribe();
  };
}

/** The flags whose evaluation has changed: directly, through a segment, or through a parent. */
function affectedFlags(
  flags: Flags,
  environment: string,
  changes: readonly ConfigurationChange[],
): ReadonlySet<string> {
  const names = new Set(changes.flatMap((change) => change.flags));
  const changedSegments = new Set(changes.flatMap((change) => change.segments));
  const configured = flags.configuration({ environment }).flags;
  for (const { name, strategies } of configured) {
    if (strategies.some(({ segments }) => segments?.some((id) => changedSegments.has(id)))) names.add(name);
  }
  const children = configured.filter(({ dependencies }) => dependencies?.some(({ flag }) => names.has(flag)));
  return new Set([...names, ...children.map(({ name }) => name)]);
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
