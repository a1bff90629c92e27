import { assertListener } from '../base/collections.js';
import type { ConsumerRef, ListPage, PageQuery } from '../base/common.types.js';
import { LIMITS } from '../base/limits.js';
import { pause } from '../base/paced.js';
import { pageBounds, pageOf } from '../base/pages.js';
import { assertText, invalidInput, type Validator } from '../base/validator.js';
import { isFlagsError } from '../errors.js';
import type { EventEngine } from '../log/event.operations.js';
import { newestPosition } from '../storage/feed-pages.js';
import type { FlagsStorage } from '../storage/port.js';
import {
  type ConsumerInput,
  type ConsumerState,
  consumerDocuments,
  consumerNotFound,
  writeConsumer,
} from './consumer.js';
import type { ConsumeOptions, Consumer, ConsumerHandler, ConsumerReset, ConsumerStart } from './consumer.types.js';
import { ConsumerRunner } from './consumer-runner.js';

/** What consumers need beside the rest of the engine. */
export interface ConsumerEngine extends EventEngine {
  readonly validate: EventEngine['validate'] & {
    readonly consumer: Validator<ConsumerInput>;
    readonly consumerReset: Validator<ConsumerReset>;
  };
  /** The name of this node. */
  readonly instance: string;
  /** Milliseconds between two polls for events; 0 without polling. */
  readonly pollInterval: number;
  readonly onError: (error: unknown) => void;
}

const LEASE = 30_000;

export async function consume(
  engine: ConsumerEngine,
  consumer: string,
  handler: ConsumerHandler,
  options: ConsumeOptions = {},
): Promise<() => Promise<void>> {
  const { name, from = 'now', lease = LEASE } = engine.validate.consumer({ ...options, name: consumer });
  const { onHistoryLost } = options;
  assertListener(handler);
  if (onHistoryLost !== undefined) assertListener(onHistoryLost);
  const { storage, instance, pollInterval, now, onError, feed } = engine;
  await createConsumer(storage, name, from);
  const node = { storage, instance, pollInterval, now, onError };
  const end = feed.attach(new ConsumerRunner({ ...node, name, handler, onHistoryLost, lease }));
  return async () => void (await end());
}

/** Creates a consumer unless it exists. Processes that create several at the same moment may exceed the limit. */
async function createConsumer(storage: FlagsStorage, name: string, from: ConsumerStart): Promise<void> {
  const { kind } = consumerDocuments;
  if (await storage.get({ kind, id: name })) return;
  if ((await storage.list({ kind, part: 'summary', limit: LIMITS.consumers })).length >= LIMITS.consumers) {
    const message = `must name an existing consumer: there are ${LIMITS.consumers}. Delete one with deleteConsumer`;
    throw invalidInput([{ message, path: '/name' }]);
  }
  const position = await positionOf(storage, from);
  const lease = { holder: null, node: null, since: null };
  await writeConsumer(storage, name, (stored) =>
    stored ? undefined : { name, position, resets: 0, ...lease, error: null },
  );
}

async function positionOf(storage: FlagsStorage, from: ConsumerStart): Promise<string | null> {
  return from === 'now' ? ((await newestPosition(storage)) ?? null) : null;
}

export async function listConsumers({ storage, now }: ConsumerEngine, query?: PageQuery): Promise<ListPage<Consumer>> {
  const { after, limit } = pageBounds(query);
  const bounds = { ...(after !== undefined && { after }), ...(Number.isFinite(limit) && { limit: limit + 1 }) };
  const stored = await storage.list({ kind: consumerDocuments.kind, part: 'body', ...bounds });
  const states = stored.map(({ content }) => content as ConsumerState);
  const page = pageOf(states, { limit, cursorOf: ({ name }) => name });
  const items: Consumer[] = [];
  for (const { name, position, error, node, since } of page.items) {
    await pause();
    items.push({ name, position, lag: await lagOf(storage, position, now()), error, node, since });
  }
  return { ...page, items };
}

/** Events per read: SQLite walks through the data of each. */
const HEADS = 100;

/** Counts the events after a position. None follow one whose event is lost: the consumer will continue after the newest. */
async function lagOf(storage: FlagsStorage, position: string | null, now: Date): Promise<Consumer['lag']> {
  let [after, events] = [position, 0];
  let oldest: string | undefined;
  try {
    for (let isLast = false; !isLast; ) {
      const limit = Math.min(HEADS, LIMITS.consumerLag - events);
      const from = after !== null && { after };
      const page = await storage.events({ order: 'oldest-first', limit, withoutData: true, ...from });
      events += page.events.length;
      oldest ??= page.events[0]?.at;
      after = page.events.at(-1)?.position ?? after;
      isLast = page.events.length < limit || events >= LIMITS.consumerLag;
      await pause();
    }
  } catch (error) {
    if (!isFlagsError(error) || error.code !== 'history_lost') throw error;
  }
  return { events, ms: oldest === undefined ? 0 : Math.max(0, now.getTime() - Date.parse(oldest)) };
}

export async function resetConsumer(
  { storage, validate }: ConsumerEngine,
  { consumer }: ConsumerRef,
  input: ConsumerReset,
): Promise<void> {
  assertText('consumer', consumer);
  const { from } = validate.consumerReset(input);
  const position = await positionOf(storage, from);
  await writeConsumer(storage, consumer, (stored) => {
    if (!stored) throw consumerNotFound(consumer);
    return { ...stored, position, resets: stored.resets + 1, error: null };
  });
}

export async function deleteConsumer({ storage }: ConsumerEngine, { consumer }: ConsumerRef): Promise<void> {
  assertText('consumer', consumer);
  await writeConsumer(storage, consumer, (stored) => {
    if (!stored) throw consumerNotFound(consumer);
    return null;
  });
}
