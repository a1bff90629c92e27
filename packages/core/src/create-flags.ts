import { v4 as randomId } from 'uuid';
import type { Flags } from './api/engine.js';
import type { FlagsOptions } from './api/options.js';
import type { ChangeContext } from './api/refs.js';
import { detached } from './detached.js';
import { createProject, DEFAULT_PROJECT } from './domain/project.js';
import type { Versioned } from './engine/aggregate.js';
import { projectDocuments } from './engine/aggregates.js';
import { type AttributedContext, createPerform } from './engine/change.js';
import type { Engine } from './engine/engine.js';
import { createFeed } from './engine/feed.js';
import { createLifetime } from './engine/lifetime.js';
import { createMetricsRetention } from './engine/metrics-retention.js';
import { createRead } from './engine/reader.js';
import { StateSize } from './engine/state-size.js';
import { closeLive, openLive } from './live/open-live.js';
import { memoryMetrics } from './metrics/memory.js';
import { createOperations } from './operations/operations.js';
import { remember } from './remember.js';
import { createSettings } from './settings.js';
import type { DocumentKey, Storage } from './storage/port.js';
import { invalidInput } from './validation/validator.js';
import { createValidators } from './validation/validators.js';

const DAY = 86_400_000;
/** For so many actors the interface is kept ready. */
const ACTORS = 1000;

/**
 * Opens feature flags on a storage: for this process alone, or for one of several that share the storage. A
 * new storage gets the project `default`. Resolves when it is ready; {@link Flags.close} gives everything back. When it
 * fails, the storage is closed.
 *
 * @throws FlagsError `invalid_input` (options that do not fit), `storage_unsupported`, `storage_busy`,
 * `storage_unavailable`
 * @example
 * const flags = await createFlags({ storage: sqliteStorage('./flags.db') });
 * await flags.createFlag({ project: 'default' }, { name: 'checkout' });
 */
export async function createFlags(options: FlagsOptions): Promise<Flags> {
  const storage = await options.storage;
  try {
    return await openFlags(options, storage);
  } catch (error) {
    await storage.close();
    throw error;
  }
}

async function openFlags(options: FlagsOptions, storage: Storage): Promise<Flags> {
  const settings = createSettings(options);
  const metrics = options.metrics ?? storage.metrics ?? memoryMetrics();
  const { now = () => new Date(), newId = () => randomId(), actor = 'system' } = options;
  const onError = reporter(options.onError ?? warn);
  const { pollInterval = 1000, applicationRetention = 30 * DAY, isUser = () => true } = options;
  const feed = createFeed({ storage, pollInterval, onError });
  const retention = createMetricsRetention({ storage, metrics, now, applicationRetention, onError });
  const size = options.stateLimit === undefined ? undefined : new StateSize(options.stateLimit);
  const live = await openLive(options, { storage, metrics, retention, settings, now, pollInterval, onError, size });
  // Where others' changes are heard of at once, what is known is what is stored, nearly always.
  const recall = storage.watch && ((key: DocumentKey) => copied(live.documents.known(key)));
  const perform = createPerform({ storage, now, feed, take: live.state.take, recall, size });
  const validate = createValidators(settings);
  const base = {
    settings,
    validate,
    storage,
    metrics,
    retention,
    feed,
    live,
    read: createRead(storage),
    now,
    newId,
    isUser,
  };
  const engineOf = (actor: string): Engine => ({
    ...base,
    change: async (change) => perform({ ...change, context: attributed(change.context, actor) }),
  });
  try {
    await addDefaultProject(engineOf(actor));
  } catch (error) {
    await closeLive(live);
    throw error;
  }
  const stopWatching = storage.watch?.(() => {
    feed.wake();
    void live.follower.refresh();
  });
  return createAttribution(engineOf, () => stopWatching?.())(actor);
}

function copied(known: Versioned<unknown> | undefined): Versioned<unknown> | undefined {
  return known && { state: detached(known.state), revision: known.revision };
}

/** Several processes may open a new storage at once: whoever comes second finds the project there. */
async function addDefaultProject({ change, now }: Engine): Promise<void> {
  const createdAt = now().toISOString();
  await change({
    aggregate: projectDocuments,
    id: DEFAULT_PROJECT,
    context: undefined,
    decide: (found) => (found ? [] : createProject(undefined, { id: DEFAULT_PROJECT, name: 'Default' }, createdAt)),
  });
}

/** Makes the interface for an actor. A router asks for one with every request, so the latest are remembered. */
function createAttribution(engineOf: (actor: string) => Engine, stopWatching: () => void): (actor: string) => Flags {
  const lifetime = createLifetime();
  const flagsOf = remember(ACTORS, (actor): Flags => {
    const engine = engineOf(actor);
    return {
      ...createOperations(engine, lifetime),
      settings: engine.settings,
      as: flagsOf,
      closing: lifetime.closing,
      close: () => {
        engine.feed.endUnsettled();
        return lifetime.end(() => {
          stopWatching();
          return release(engine);
        });
      },
    };
  });
  return flagsOf;
}

function attributed(context: ChangeContext | undefined, actor: unknown): AttributedContext {
  const named: unknown = context?.actor ?? actor;
  if (typeof named === 'string' && named !== '') return { ...context, actor: named };
  throw invalidInput([{ message: 'the actor must be a text that is not empty', path: '' }]);
}

async function release({ feed, live, metrics, storage }: Engine): Promise<void> {
  try {
    await feed.close();
    await closeLive(live);
    await metrics.close();
  } finally {
    await storage.close();
  }
}

/** A host's function that throws is told of as well: nobody waits for what calls it. */
function reporter(onError: (error: unknown) => void): (error: unknown) => void {
  return (error) => {
    try {
      onError(error);
    } catch (failure) {
      warn(failure);
    }
  };
}

function warn(error: unknown): void {
  process.emitWarning(String(error), { type: 'FlagsWarning', detail: detailOf(error) });
}

function detailOf(error: unknown): string {
  const { stack } = Object(error) as { readonly stack?: unknown };
  return typeof stack === 'string' ? stack : '';
}
