import { createListeners, type Listeners } from '../../base/collections.js';
import { copyJson } from '../../base/json.js';
import type { KeyedUpdate } from '../../storage/document-reader.js';
import { newestPosition } from '../../storage/feed-pages.js';
import type { DocumentKey, FlagsStorage } from '../../storage/port.js';
import { stateAt } from '../log/event-log.js';
import type { Registry } from '../registry.js';
import { type ChangePoller, startChangePoller } from './change-poller.js';
import { DocumentCache } from './document-cache.js';

/** Documents of the storage in memory, which follow its changes. */
export interface DocumentReplica {
  readonly poller: ChangePoller;
  /**
   * Applies the documents of an own commit. Follows the feed first if another process has changed one of them: alone, the
   * document would show a part of the other's change set.
   */
  readonly applyCommit: (updates: readonly KeyedUpdate[], changeSet: string) => Promise<void> | void;
  /**
   * Told which documents in memory have changed, after all documents of a commit, or of several. Synchronous: nobody sees
   * some of the documents without the others.
   */
  readonly onDocuments: Listeners<readonly DocumentKey[]>;
}

export interface DocumentSource {
  readonly storage: FlagsStorage;
  readonly registry: Registry;
  readonly now: () => Date;
  readonly pollInterval: number;
  readonly onError: (error: unknown) => void;
}

/** The state that a replica starts with. */
export interface LoadedDocuments {
  /** The position of the newest event before the documents were read; undefined before the first event. */
  readonly after: string | undefined;
  readonly documents: DocumentCache;
}

/** Reads all documents of the kinds in memory. */
export async function loadDocuments({
  storage,
  registry,
}: Pick<DocumentSource, 'storage' | 'registry'>): Promise<LoadedDocuments> {
  // The position is read before the documents, so that the poller misses no change.
  const after = await newestPosition(storage);
  const documents = new DocumentCache(registry);
  await documents.load(storage);
  await registry.prepareDocuments(documents.updates());
  return { after, documents };
}

/** Starts to follow the changes of other processes. */
export function followDocuments(source: DocumentSource, { after, documents }: LoadedDocuments): DocumentReplica {
  const { storage, registry, now, pollInterval, onError } = source;
  const onDocuments = createListeners<readonly DocumentKey[]>(onError);

  function notify(keys: readonly DocumentKey[]): void {
    if (keys.length > 0) onDocuments.notify(keys);
  }

  /** Ignores an update that is not newer. Returns whether the document changes. */
  function applyUpdate({ key, update }: KeyedUpdate): boolean {
    if (!documents.isNewer(key, update.revision)) return false;
    // A copy, because the caller of a change holds parts of the written state.
    return documents.applyUpdate(key, update.revision, copyJson(update.state));
  }

  function applyUpdates(updates: readonly KeyedUpdate[]): Promise<void> | void {
    const apply = () => notify(updates.filter(applyUpdate).map(({ key }) => key));
    const preparation = registry.prepareDocuments(updates);
    return preparation ? preparation.then(apply) : apply();
  }

  const poller = startChangePoller({
    storage,
    stateAt: async (key, until) => (await stateAt({ storage, registry }, key, { until }))?.state,
    now,
    pollInterval,
    after,
    isNewer: (key, revision) => documents.isNewer(key, revision),
    applyUpdates,
    onError,
    async reload() {
      const loaded = await loadDocuments(source);
      notify(documents.replaceBy(loaded.documents));
      return loaded.after;
    },
  });
  const hasMissed = ({ key, update: { before } }: KeyedUpdate) => before && documents.isNewer(key, before.revision);
  return {
    poller,
    onDocuments,
    applyCommit(updates, changeSet) {
      poller.trackCommit(changeSet);
      // The storage works again. The server may be another one, whose revisions are lower than those in memory.
      if (poller.status().state === 'stale') void poller.refresh();
      if (!updates.some(hasMissed)) return applyUpdates(updates);
      return poller.refresh().then(() => applyUpdates(updates));
    },
  };
}
