import { hostname } from 'node:os';
import { createListeners, type Listeners } from '../base/collections.js';
import { deepFreeze, type MergeSources, mergeJson } from '../base/json.js';
import type { KeyedUpdate, Versioned } from '../changesets/documents.js';
import type { StateSize } from '../changesets/size-limits.js';
import type { EvaluationProblem } from '../evaluation/evaluated.types.js';
import type { EnvironmentConfiguration, Impression, SegmentConfiguration } from '../evaluation/evaluation.types.js';
import { ProblemReporter } from '../evaluation/problem.js';
import type { Snapshot } from '../evaluation/snapshot.js';
import { STRATEGIES } from '../evaluation/strategies.js';
import type { FlagUsage } from '../evaluation/usage.js';
import { newestPosition } from '../events/feed-cursor.js';
import type { FlagState } from '../flags/flag.js';
import { flagDocuments } from '../flags/flag-documents.js';
import type { Settings } from '../flags.js';
import type { FlagsOptions } from '../options.js';
import { segmentDocuments } from '../segments/segment.js';
import type { DocumentKey, Storage } from '../storage/port.js';
import { type EnvironmentCount, startUsageRecorder, type UsageRecorder } from '../usage/usage-recorder.js';
import type { UsageWriter } from '../usage/usage-writer.js';
import { type ChangePoller, startChangePoller } from './change-poller.js';
import { createDocumentCache, type DocumentCache } from './document-cache.js';
import {
  createEnvironmentView,
  type EnvironmentView,
  toSegmentConfiguration,
  type ViewChange,
  type ViewOptions,
} from './environment-view.js';
import { createFlagIndex, type FlagIndex } from './flag-index.js';

/** All compiled environments, kept current with the documents in memory. */
export interface EvaluationState {
  /** The default environment. */
  readonly standard: EnvironmentView;
  /** Returns the snapshot of an environment, or undefined for an unknown one. The first call compiles it. */
  snapshotOf(environment: string): Snapshot | undefined;
  /** Returns a frozen object, the same one until a change. Returns undefined for an unknown environment. */
  configurationOf(environment: string): EnvironmentConfiguration | undefined;
  /** Like `configurationOf`, but the first call compiles in time slices. */
  loadConfiguration(environment: string): Promise<EnvironmentConfiguration | undefined>;
  /**
   * Applies the new states of the documents of a commit, or of several. Ignores an update that is not newer. Synchronous:
   * no evaluation sees some of the documents without the others. Notifies listeners after the last document.
   */
  applyUpdates(updates: readonly KeyedUpdate[]): void;
  /** Returns and resets the evaluation counts, one sum per environment and flag. */
  drain(): readonly EnvironmentCount[];
}

export interface EvaluationStateOptions {
  readonly settings: Settings;
  readonly storage: Pick<Storage, 'peek'>;
  readonly documents: DocumentCache;
  readonly view: ViewOptions;
  /** Called after every change. */
  readonly onChange: () => void;
  /** Called when a flag is deleted: a later flag of the same name must not get its pending counts. */
  readonly onDeleted: (flag: string) => void;
}

function createEvaluationState(options: EvaluationStateOptions): EvaluationState {
  const { settings, storage, documents, view, onChange, onDeleted } = options;
  const names = new Set(settings.environments.map(({ name }) => name));
  const views = new Map<string, EnvironmentView>();
  // Views that `load` is still compiling.
  const incomplete = new Map<string, EnvironmentView>();
  const loads = new Map<string, Promise<void>>();
  const configurations = new Map<string, EnvironmentConfiguration>();
  const standard = viewOf(settings.environment);
  let version = 1;

  function viewOf(environment: string): EnvironmentView {
    const known = views.get(environment);
    if (known) return known;
    const created = incomplete.get(environment) ?? createEnvironmentView(environment, documents, view);
    created.complete();
    views.set(environment, created);
    incomplete.delete(environment);
    return created;
  }

  async function load(environment: string): Promise<void> {
    const known = views.get(environment);
    const loaded = known ?? createEnvironmentView(environment, documents, view);
    if (!known) incomplete.set(environment, loaded);
    await loaded.load();
    viewOf(environment);
  }

  function loadOnce(environment: string): Promise<void> {
    const started = loads.get(environment) ?? load(environment);
    loads.set(environment, started);
    return started;
  }

  /** Drops the counts of a deleted flag. A later flag of the same name must not get them. */
  function forget(change: ViewChange): void {
    if (!('flag' in change)) return;
    for (const { counters } of views.values()) counters.forget(change.flag);
    onDeleted(change.flag);
  }

  /** Returns whether evaluation changes. */
  function applyUpdate({ key, update }: KeyedUpdate): boolean {
    const change = toViewChange(key);
    if (!change || !documents.isNewer(key, update.revision)) return false;
    if (update.state === undefined) forget(change);
    if (!documents.applyUpdate(key, update.revision, ownState(key, update))) return false;
    for (const one of views.values()) one.update(change);
    for (const one of incomplete.values()) one.update(change);
    return true;
  }

  function configurationOf(environment: string): EnvironmentConfiguration {
    const known = configurations.get(environment);
    if (known) return known;
    const configuration = deepFreeze({ version, flags: viewOf(environment).flags(), segments: segmentsIn(documents) });
    configurations.set(environment, configuration);
    return configuration;
  }

  /**
   * Returns a state that nobody else changes: the one that the storage keeps, or a copy. The caller of a change holds
   * parts of the written state.
   */
  function ownState(key: DocumentKey, { revision, state, before }: KeyedUpdate['update']): unknown {
    const stored = storage.peek?.(key);
    return stored && stored.revision === revision ? stored.body : mergeJson(state, knownOf(key, documents, before));
  }

  return {
    standard,
    snapshotOf: (environment) => (names.has(environment) ? viewOf(environment).snapshot : undefined),
    configurationOf: (environment) => (names.has(environment) ? configurationOf(environment) : undefined),
    async loadConfiguration(environment) {
      if (!names.has(environment)) return undefined;
      await loadOnce(environment);
      return configurationOf(environment);
    },
    applyUpdates(updates) {
      if (updates.filter(applyUpdate).length === 0) return;
      configurations.clear();
      version += 1;
      onChange();
    },
    drain: () => [...views].flatMap(([environment, { counters }]) => countsOf(environment, counters.drain())),
  };
}

function knownOf(key: DocumentKey, documents: DocumentCache, before: Versioned<unknown> | undefined): MergeSources {
  const known = documents.get(key);
  return { known: known?.state, ...(known && known.revision === before?.revision && { twin: before.state }) };
}

/** Returns all segments in the order of their ids. */
function segmentsIn({ segments }: DocumentCache): readonly SegmentConfiguration[] {
  return [...segments.values()].sort((one, other) => one.id - other.id).map(toSegmentConfiguration);
}

function toViewChange({ kind, id }: DocumentKey): ViewChange | undefined {
  if (kind === flagDocuments.kind) return { flag: id };
  return kind === segmentDocuments.kind ? { segment: id } : undefined;
}

function countsOf(environment: string, usage: readonly FlagUsage[]): readonly EnvironmentCount[] {
  return usage.map(({ flag, yes, no, variants }) => {
    return { environment, flag, yes, no, ...(variants.length > 0 && { variants }) };
  });
}

/** The in-memory copy of the storage, and its evaluation. */
export interface Replica {
  readonly state: EvaluationState;
  readonly documents: DocumentCache;
  /** How this process compiles flags: for snapshots of other states than the current one. */
  readonly view: ViewOptions;
  readonly index: FlagIndex;
  readonly poller: ChangePoller;
  /**
   * Applies the documents of an own commit. Follows the feed first if another process has changed one of them: alone, the
   * document would show a part of the other's change set.
   */
  readonly applyCommit: (updates: readonly KeyedUpdate[]) => Promise<void> | void;
  readonly usage: UsageRecorder;
  readonly impressions: Listeners<Impression>;
  /** Notified after every change of a flag or segment. */
  readonly changes: Listeners<void>;
  /** For problems that evaluation finds outside of snapshots. */
  readonly problems: ProblemReporter;
}

export interface ReplicaContext {
  readonly storage: Storage;
  readonly usageWriter: UsageWriter;
  readonly settings: Settings;
  readonly now: () => Date;
  readonly pollInterval: number;
  readonly onError: (error: unknown) => void;
  /** Counts the bytes that other processes write; undefined without a limit. */
  readonly size: StateSize | undefined;
}

/** What a replica starts from. */
export interface LoadedDocuments {
  /** The position of the newest event before the documents were read; undefined before the first event. */
  readonly after: string | undefined;
  readonly documents: DocumentCache;
  readonly index: FlagIndex;
}

/** Reads all flags and segments, then follows the changes of other processes. */
export async function openReplica(options: FlagsOptions, context: ReplicaContext): Promise<Replica> {
  const { storage, size } = context;
  // The position is read before the documents, so that the poller misses no change.
  const after = await newestPosition(storage);
  const { documents, index } = createDocuments(context);
  await documents.load();
  await size?.load(storage);
  const replica = startReplica(options, context, { after, documents, index });
  // The documents were read one kind after the other. The feed brings all of them to one state.
  await replica.poller.refresh();
  return replica;
}

/** Creates an empty cache of documents, and its index. */
export function createDocuments({ storage, settings }: Pick<ReplicaContext, 'storage' | 'settings'>) {
  const findFlag = (id: string) => documents.get({ kind: flagDocuments.kind, id }) as Versioned<FlagState> | undefined;
  const index = createFlagIndex(settings, findFlag);
  const documents = createDocumentCache(storage, index.update);
  return { index, documents };
}

/** Starts a replica from documents in memory. */
export function startReplica(options: FlagsOptions, context: ReplicaContext, loaded: LoadedDocuments): Replica {
  const { storage, usageWriter, settings, now, pollInterval, onError, size } = context;
  const { strategies = [], idEncoding = 'utf8', onProblem = warnOf, appName = 'default', instanceId } = options;
  const { after, documents, index } = loaded;
  const impressions = createListeners<Impression>(onError);
  const changes = createListeners<void>(onError);
  const clock = () => now().getTime();
  const view = {
    strategies,
    idEncoding,
    onProblem,
    now: clock,
    hostname: hostname(),
    onImpression: impressions.notify,
  };
  const state = createEvaluationState({
    settings,
    storage,
    documents,
    view,
    onChange: changes.notify,
    onDeleted: (flag) => usage.forget(flag),
  });
  const usage = startUsageRecorder({
    writer: usageWriter,
    now,
    application: appName,
    instance: instanceId ?? `${hostname()}-${process.pid}`,
    strategies: [...STRATEGIES.keys(), ...strategies.map(({ name }) => name)],
    interval: options.usageInterval ?? 10_000,
    drain: state.drain,
    onError,
  });
  const poller = startChangePoller({
    storage,
    now,
    pollInterval,
    after,
    isNewer: (key, revision) => documents.isNewer(key, revision) || (size?.isNewer(key, revision) ?? false),
    applyUpdates(updates) {
      for (const { key, update } of updates) size?.applyUpdate(key, update);
      state.applyUpdates(updates);
    },
    onError,
  });
  const hasMissed = ({ key, update: { before } }: KeyedUpdate) => before && documents.isNewer(key, before.revision);
  const applyCommit = (updates: readonly KeyedUpdate[]) => {
    if (!updates.some(hasMissed)) return state.applyUpdates(updates);
    return poller.refresh().then(() => state.applyUpdates(updates));
  };
  const problems = new ProblemReporter(onProblem);
  return { state, documents, view, index, poller, applyCommit, usage, impressions, changes, problems };
}

/** Stops the timers and records the pending counts. Evaluation still works afterwards, from memory. */
export async function closeReplica({ poller, usage }: Replica): Promise<void> {
  await poller.close();
  await usage.close();
}

function warnOf({ message, code }: EvaluationProblem): void {
  process.emitWarning(message, { type: 'FlagsWarning', code });
}
