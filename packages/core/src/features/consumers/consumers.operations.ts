import { assertListener } from '../../base/collections.js';
import type { ConsumerRef, ListPage, PageQuery } from '../../base/common.types.js';
import { isFlagsError } from '../../base/errors.js';
import { LIMITS } from '../../base/limits.js';
import { pause } from '../../base/paced.js';
import { pageBounds, pageOf } from '../../base/pages.js';
import { assertText, invalidInput, type Validator } from '../../base/validator.js';
import { Namespace, run } from '../../kernel/changes/run-operation.js';
import { type Call, call, defineOperations, NO_REFERENCE, type Page } from '../../kernel/operation.js';
import { newestPosition, type StoredEventHead } from '../../storage/feed-pages.js';
import type { FlagsStorage } from '../../storage/port.js';
import type { EventEngine } from '../history/event.operations.js';
import {
  type ConsumerInput,
  type ConsumerState,
  consumerDocuments,
  consumerNotFound,
  writeConsumer,
} from './consumer.js';
import type { ConsumeOptions, Consumer, ConsumerHandler, ConsumerReset, ConsumerStart } from './consumer.types.js';
import { ConsumerRunner, type OwnConsumers } from './consumer-runner.js';

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
  readonly consumers: OwnConsumers;
}

const LEASE = 30_000;

/** What reads the events of a consumer on this node. */
export interface NewConsumer {
  readonly name: string;
  readonly handler: ConsumerHandler;
}

async function consume(
  engine: ConsumerEngine,
  { name: consumer, handler }: NewConsumer,
  options: ConsumeOptions = {},
): Promise<() => Promise<void>> {
  const { name, from = 'now', lease = LEASE } = engine.validate.consumer({ ...options, name: consumer });
  const { onHistoryLost } = options;
  assertListener(handler);
  if (onHistoryLost !== undefined) assertListener(onHistoryLost);
  const { storage, registry, instance, pollInterval, now, onError, feed } = engine;
  await createConsumer(storage, name, from);
  const node = { storage, registry, instance, pollInterval, now, onError };
  const runner = new ConsumerRunner({ ...node, name, handler, onHistoryLost, lease });
  const end = feed.attach(runner);
  engine.consumers.add(runner);
  return async () => {
    engine.consumers.delete(runner);
    await end();
  };
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

async function listConsumers({ storage, now }: ConsumerEngine, query?: PageQuery): Promise<ListPage<Consumer>> {
  const { after, limit } = pageBounds(query);
  const bounds = { ...(after !== undefined && { after }), ...(Number.isFinite(limit) && { limit: limit + 1 }) };
  const stored = await storage.list({ kind: consumerDocuments.kind, part: 'body', ...bounds });
  const states = stored.map(({ content }) => content as ConsumerState);
  const page = pageOf(states, { limit, cursorOf: ({ name }) => name });
  const lags = await lagsOf(storage, new Set(page.items.map(({ position }) => position)), now());
  const items = page.items.map(({ name, position, error, node, since }): Consumer => {
    return { name, position, lag: lags.get(position) ?? NO_LAG, error, node, since };
  });
  return { ...page, items };
}

type Lag = Consumer['lag'];

const NO_LAG: Lag = { events: 0, ms: 0 };

/** Events per read. Few, because SQLite reads the data of each event, too. */
const HEADS = 100;

/**
 * Counts the events after each position, up to a limit. Reads one event for each of them, and the newest events once for
 * all: many consumers may be stuck.
 */
async function lagsOf(
  storage: FlagsStorage,
  positions: ReadonlySet<string | null>,
  now: Date,
): Promise<ReadonlyMap<string | null, Lag>> {
  const oldest = new Map<string | null, StoredEventHead>();
  for (const position of positions) {
    const next = await readNext(storage, position);
    if (next) oldest.set(position, next);
  }
  const counts = await countNewest(storage, new Set([...oldest.values()].map(({ position }) => position)));
  return new Map(
    [...oldest].map(([position, next]) => {
      const events = Math.min(counts.get(next.position) ?? Infinity, LIMITS.consumerLag);
      return [position, { events, ms: Math.max(0, now.getTime() - Date.parse(next.at)) }];
    }),
  );
}

/** Numbers the newest events from 1, newest first, until all that are wanted have a number. */
async function countNewest(storage: FlagsStorage, wanted: ReadonlySet<string>): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  const missing = new Set(wanted);
  let until: string | undefined;
  while (missing.size > 0 && counts.size < LIMITS.consumerLag) {
    const range = { limit: HEADS, ...(until !== undefined && { until }) };
    const { events } = await storage.events({ order: 'newest-first', settled: true, withoutData: true, ...range });
    for (const { position } of events) {
      // The page begins with the last event of the one before.
      if (!counts.has(position)) counts.set(position, counts.size + 1);
      missing.delete(position);
    }
    if (events.length < HEADS) break;
    until = events.at(-1)?.position;
    await pause();
  }
  return counts;
}

/**
 * Reads the event after a position. Undefined also if the storage has lost the event at the position: the consumer will
 * continue after the newest event.
 */
async function readNext(storage: FlagsStorage, position: string | null): Promise<StoredEventHead | undefined> {
  await pause();
  try {
    const after = position !== null && { after: position };
    return (await storage.events({ order: 'oldest-first', limit: 1, withoutData: true, ...after })).events[0];
  } catch (error) {
    if (isFlagsError(error) && error.code === 'history_lost') return undefined;
    throw error;
  }
}

async function resetConsumer(
  { storage, validate, feed }: ConsumerEngine,
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
  await tellRunners(feed, consumer);
}

/** Tells the runners of this engine about a change of their consumer. Runners of other processes see the change when they renew the lease. */
async function tellRunners({ subscriptions }: ConsumerEngine['feed'], consumer: string): Promise<void> {
  for (const reader of subscriptions) if (reader instanceof ConsumerRunner) await reader.check(consumer);
}

async function deleteConsumer({ storage, feed }: ConsumerEngine, { consumer }: ConsumerRef): Promise<void> {
  assertText('consumer', consumer);
  await writeConsumer(storage, consumer, (stored) => {
    if (!stored) throw consumerNotFound(consumer);
    return null;
  });
  await tellRunners(feed, consumer);
}

/** The operations of consumers. */
export const consumerOperations = defineOperations({
  consume: call({
    ref: NO_REFERENCE,
    run: (engine: ConsumerEngine, { input, context }: Call<undefined, NewConsumer, ConsumeOptions | undefined>) =>
      consume(engine, input, context),
  }),
  listConsumers: call({
    method: 'consumers.list',
    ref: NO_REFERENCE,
    run: (engine: ConsumerEngine, { input }: Call<undefined, Page>) => listConsumers(engine, input),
  }),
  resetConsumer: call({
    method: 'consumers.reset',
    ref: ['consumer'],
    run: (engine: ConsumerEngine, { ref, input }: Call<ConsumerRef, ConsumerReset>) =>
      resetConsumer(engine, ref, input),
  }),
  deleteConsumer: call({
    method: 'consumers.delete',
    ref: ['consumer'],
    run: (engine: ConsumerEngine, { ref }: Call<ConsumerRef>) => deleteConsumer(engine, ref),
  }),
});

/** The consumers that `flags.consume` has created, on any node: `flags.consumers`. */
export class Consumers extends Namespace {
  /**
   * Lists the consumers, by name, with their lag.
   *
   * @throws FlagsError `invalid_input`
   * @example
   * const { items } = await flags.consumers.list();
   * const failing = items.filter(({ error }) => error !== null);
   */
  list(page?: PageQuery): Promise<ListPage<Consumer>> {
    return run(this, consumerOperations.listConsumers, { input: page });
  }

  /**
   * Moves a consumer to the newest event, or to the beginning of the log. The node that runs it aborts the handler, and
   * continues there: at once if it is this one, otherwise within a third of the lease.
   *
   * @throws FlagsError `invalid_input`, `consumer_not_found`, `too_much_contention`
   * @example
   * await flags.consumers.reset({ consumer: 'audit' }, { from: 'beginning' });
   */
  reset(ref: ConsumerRef, input: ConsumerReset): Promise<void> {
    return run(this, consumerOperations.resetConsumer, { ref, input });
  }

  /**
   * Deletes a consumer. This node ends it at once, others within a third of the lease. They report `consumer_not_found` to
   * `onError`. It exists again when `consume` is called again.
   *
   * @throws FlagsError `consumer_not_found`, `too_much_contention`
   * @example
   * await flags.consumers.delete({ consumer: 'audit' });
   */
  delete(ref: ConsumerRef): Promise<void> {
    return run(this, consumerOperations.deleteConsumer, { ref });
  }
}
