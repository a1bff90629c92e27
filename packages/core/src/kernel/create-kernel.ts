import { v4 as randomId } from 'uuid';
import { cloneJson } from '../base/json.js';
import { createLifetime } from '../base/lifetime.js';
import { createReader } from '../storage/document-reader.js';
import type { DocumentKey } from '../storage/port.js';
import type { Rules, SharedEngine } from './changes/change-engine.js';
import { createChangeSetWriter, joinRules } from './changes/change-set-writer.js';
import { type DueMode, DueRunner } from './due/runner.js';
import type { DueSource } from './due/source.js';
import type { PreparedChange } from './engine.js';
import type { Feature, OpenedFeature } from './feature.js';
import { createFeed } from './log/feed.js';
import { followDocuments, type LoadedDocuments } from './replica/replica.js';

/** What the kernel gets from the host. */
interface KernelOptions
  extends Pick<
    SharedEngine,
    'storage' | 'usage' | 'registry' | 'operations' | 'settings' | 'validate' | 'instance' | 'onError'
  > {
  readonly now: SharedEngine['now'] | undefined;
  readonly newId: SharedEngine['newId'] | undefined;
  readonly isUser: SharedEngine['isUser'] | undefined;
  readonly pollInterval: number | undefined;
  /** Whether this process does what is due. */
  readonly dueMode: DueMode;
}

/**
 * Creates the engine that all actors share: the writer, the feed, the documents in memory and the runner of what is due, with
 * the parts of all features. Synchronous, because the documents are loaded before. `start` starts the background work.
 *
 * @param features the lowest first
 * @param options the options of the host, which features read
 */
export function createKernel<Engine extends SharedEngine, Options>(
  features: readonly Feature<Engine, Options>[],
  host: KernelOptions,
  { loaded, options }: { readonly loaded: LoadedDocuments; readonly options: Options },
): Engine {
  const { now = () => new Date(), newId = () => randomId(), isUser = () => true, pollInterval = 1000 } = host;
  const { storage, usage, registry, settings, operations, validate, instance, onError } = host;
  const { documents } = loaded;
  const { poller, onDocuments, applyCommit } = followDocuments(
    { storage, registry, now, pollInterval, onError },
    loaded,
  );
  const feed = createFeed({ storage, registry, pollInterval, onError });
  const lifetime = createLifetime();
  const opened: OpenedFeature<object>[] = [];
  // The features add to both lists when they open.
  const [rules, sources]: [Rules[], DueSource[]] = [[], []];
  const due = new DueRunner(sources, { mode: host.dueMode, polls: pollInterval > 0, now, lifetime, onError });
  const joined = joinRules(rules);
  // With push notifications the replica is almost always current. While it is stale, a failover may have happened: the new
  // server may have given a revision of the replica to another commit.
  const isCurrent = () => poller.status().state === 'current';
  const getCached = storage.watch && ((key: DocumentKey) => (isCurrent() ? cloneDocument(key) : undefined));
  let stopWatching: (() => void) | undefined;

  function cloneDocument(key: DocumentKey) {
    const known = documents.get(key);
    return known && { state: cloneJson(known.state), revision: known.revision };
  }

  const kernel: SharedEngine = {
    ...{ storage, usage, registry, settings, operations, validate, instance, onError },
    ...{ now, newId, isUser, pollInterval },
    ...createReader(storage),
    memory: {
      statesOf: (kind) => documents.statesOf(kind),
      get: (key) => documents.get(key),
      isNewer: (key, revision) => documents.isNewer(key, revision),
      refresh: poller.refresh,
      status: poller.status,
      position: poller.position,
    },
    feed,
    lifetime,
    due,
    rules: joined,
    writer: createChangeSetWriter({
      storage,
      registry,
      now,
      feed,
      applyUpdates: applyCommit,
      getCached,
      rules: joined,
    }),
    start() {
      due.start();
      stopWatching = storage.watch?.(() => {
        feed.wake();
        void poller.refresh();
      });
    },
    async release() {
      stopWatching?.();
      due.close();
      try {
        await feed.close();
        await poller.close();
        for (const { close } of opened) await close?.();
        await usage.close();
      } finally {
        await storage.close();
      }
    },
  };
  // Features get the engine before it has all parts. They read later parts only when they run.
  const engine = kernel as Engine;
  for (const { open } of features) {
    if (!open) continue;
    const one = open(engine, options);
    Object.assign(engine, one.parts);
    opened.push(one);
    if (one.rules) rules.push(one.rules);
    if (one.onDocuments) onDocuments.add(one.onDocuments);
    // The highest first: a request that is due may start a rollout.
    if (one.due) sources.unshift(one.due);
  }
  return engine;
}

/** Returns the changes that create the first documents of a new storage. */
export function seedOf<Engine extends SharedEngine>(
  features: readonly Pick<Feature<Engine, never>, 'name' | 'seed'>[],
  engine: Engine,
): readonly PreparedChange[] {
  return features.flatMap(({ seed }) => seed?.(engine) ?? []);
}
