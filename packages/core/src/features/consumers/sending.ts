import { assertText, invalidInput } from '../../base/validator.js';
import type { FlagsEvent } from '../../kernel/log/event.types.js';
import type { Registry } from '../../kernel/registry.js';
import type { ConsumerHandler } from './consumer.types.js';

/** Milliseconds. */
export const TIMEOUT = 15_000;

/** How the events of a batch are sent. */
interface Sending<Item> {
  /** Returns what is sent for the events of a batch, in order. */
  readonly itemsOf: (events: readonly FlagsEvent[]) => readonly Item[];
  readonly send: (item: Item, signal: AbortSignal) => Promise<void>;
}

/**
 * Sends the items of a batch one after the other. After a failure, the repetition of the batch begins with the item that
 * failed.
 */
export function sendInOrder<Item>({ itemsOf, send }: Sending<Item>): ConsumerHandler {
  let sent = 0;
  let batch: { readonly signal: AbortSignal; readonly first: string | undefined } | undefined;
  return async (events, { signal }) => {
    const first = events[0]?.position;
    // The signal is the same until the consumer is reset or has been on another node.
    if (batch?.signal !== signal || batch.first !== first) sent = 0;
    batch = { signal, first };
    for (const item of itemsOf(events).slice(sent)) {
      signal.throwIfAborted();
      await send(item, signal);
      sent += 1;
    }
    batch = undefined;
  };
}

/** A request to a receiver. */
interface Post {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly timeout: number;
}

/** The receiver has answered 410 Gone: it wants nothing more. */
export class ReceiverGone extends Error {}

/**
 * Posts to a receiver. Rejects unless it answers 2xx in time. Follows no redirect, and reads no body. Messages name the host
 * only: a URL may be a secret.
 */
export async function post({ url, timeout, ...request }: Post, signal: AbortSignal): Promise<void> {
  const ending = new AbortController();
  const end = () => ending.abort();
  const timer = setTimeout(end, timeout);
  signal.addEventListener('abort', end, { once: true });
  try {
    const response = await fetch(url, { ...request, method: 'POST', redirect: 'manual', signal: ending.signal });
    response.body?.cancel().catch(() => undefined);
    if (response.ok) return;
    if (response.status === 410) throw new ReceiverGone(`${url.host} answered 410.`);
    const redirect = response.status >= 300 && response.status < 400 ? ', and redirects are not followed' : '';
    throw new Error(`${url.host} answered ${response.status}${redirect}.`);
  } catch (error) {
    signal.throwIfAborted();
    if (ending.signal.aborted) throw new Error(`${url.host} did not answer within ${timeout} ms.`);
    // fetch hides what went wrong in the cause.
    const { cause } = error as { readonly cause?: { readonly message?: string; readonly code?: string } };
    if (cause === undefined) throw error;
    throw new Error(`${url.host} cannot be reached: ${cause.message || cause.code}.`);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
  }
}

/** Returns the URL of a receiver. Throws `invalid_input` unless it is absolute, http or https, and without credentials. */
export function parseReceiver(url: unknown): URL {
  assertText('url', url);
  const parsed = URL.canParse(`${url}`) ? new URL(`${url}`) : undefined;
  if (parsed && /^https?:$/.test(parsed.protocol) && parsed.username + parsed.password === '') return parsed;
  throw invalidInput([
    { message: 'must be an absolute http or https URL without a user and a password', path: '/url' },
  ]);
}

/** Returns a filter of events by their types. Throws `invalid_input` for an unknown type. */
export function filterByType(
  { eventTypes }: Pick<Registry, 'eventTypes'>,
  types: readonly string[] | undefined,
): (event: FlagsEvent) => boolean {
  if (types === undefined) return () => true;
  if (Array.isArray(types) && types.every((type) => eventTypes.includes(type)))
    return ({ type }) => types.includes(type);
  throw invalidInput([{ message: `must be a list of event types: ${eventTypes.join(', ')}`, path: '/events' }]);
}
