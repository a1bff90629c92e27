import { createHmac } from 'node:crypto';
import { invalidInput } from '../../base/validator.js';
import type { FlagsEvent } from '../../kernel/log/event.types.js';
import type { Registry } from '../../kernel/registry.js';
import { describeRequestEvent } from '../../words/describe-request.js';
import type { EventType } from '../../words/event-names.js';
import type { ConsumerHandler } from './consumer.types.js';
import { eventToWire } from './event-wire.js';
import { filterByType, parseReceiver, post, ReceiverGone, sendInOrder, TIMEOUT } from './sending.js';

/** Options of `webhook`. */
export interface WebhookOptions {
  /** The receiver: https, or http in your own network. */
  readonly url: string;
  /**
   * 24 to 64 random bytes in base64, with or without `whsec_` before them, which the receiver has as well. A list while it is
   * rotated: each request is signed with all of them.
   */
  readonly secret: string | readonly string[];
  /** The types of events to send. Default: all. */
  readonly events?: readonly EventType[] | undefined;
  /** Returns the address of the change request of an event, which is sent as `link`. Default: no links. */
  readonly link?: ((event: FlagsEvent) => string | null | undefined) | undefined;
  /** Milliseconds that a request may take, at least 1. Default: 15,000. */
  readonly timeout?: number | undefined;
}

/** Bytes of JSON of a state. A larger one is left out. */
const MOST_STATE = 65_536;

/** Returns the handler of `webhook`. */
export function createWebhookHandler(
  registry: Registry,
  { url, secret, events, link, timeout = TIMEOUT }: WebhookOptions,
): ConsumerHandler {
  const receiver = parseReceiver(url);
  const keys = [secret].flat().map(parseSecret);
  const isWanted = filterByType(registry, events);
  if (keys.length === 0) throw invalidSecret();
  if (!(timeout >= 1 && timeout < 2 ** 31)) {
    throw invalidInput([{ message: 'must be a number of milliseconds, at least 1', path: '/timeout' }]);
  }
  /** The signal of the tenure in which the receiver answered 410. In the next tenure, it is tried again. */
  let ended: AbortSignal | undefined;
  return sendInOrder({
    itemsOf: (batch) => batch.filter(isWanted),
    async send(event, signal) {
      if (ended === signal) throw endedBy(receiver);
      const body = bodyOf(event, link);
      try {
        await post({ url: receiver, headers: headersOf(event, body, keys), body, timeout }, signal);
      } catch (error) {
        if (!(error instanceof ReceiverGone)) throw error;
        ended = signal;
        throw endedBy(receiver);
      }
    },
  });
}

function endedBy({ host }: URL): Error {
  return new Error(
    `${host} answered 410: it takes no more events, and nothing more is sent to it. Delete this consumer, or reset it to send again.`,
  );
}

function bodyOf(event: FlagsEvent, link: WebhookOptions['link']): string {
  const data = eventToWire(event);
  const omitted = (['data', 'preData'] as const).filter((name) => {
    return Buffer.byteLength(JSON.stringify(data[name]) ?? '') > MOST_STATE;
  });
  const left = omitted.length > 0 && { ...Object.fromEntries(omitted.map((name) => [name, undefined])), omitted };
  const text = describeRequestEvent(event);
  const words = text !== undefined && { text, link: link?.(event) ?? undefined };
  return JSON.stringify({ type: data.type, timestamp: event.at, ...words, data: { ...data, ...left } });
}

/** After a failover, another event may have the position of a lost one, but not the id of its change set. */
function headersOf({ position, changeSet }: FlagsEvent, body: string, keys: readonly Buffer[]) {
  const id = `${changeSet}_${encodeURIComponent(position)}`;
  const timestamp = Math.floor(Date.now() / 1000);
  const sign = (key: Buffer) => `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': `${timestamp}`,
    'webhook-signature': keys.map(sign).join(' '),
  };
}

function parseSecret(secret: unknown): Buffer {
  const [, base64 = ''] = /^(?:whsec_)?([A-Za-z0-9+/]+={0,2})$/.exec(`${secret}`) ?? [];
  const key = Buffer.from(base64, 'base64');
  if (key.length < 24 || key.length > 64) throw invalidSecret();
  return key;
}

/** Does not repeat the secret. */
function invalidSecret(): Error {
  return invalidInput([{ message: 'must be 24 to 64 random bytes in base64, or several', path: '/secret' }]);
}
