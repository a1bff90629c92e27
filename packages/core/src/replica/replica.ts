import { hostname } from 'node:os';
import { createListeners, type Listeners } from '../base/collections.js';
import { copyJson } from '../base/json.js';
import { emitWarning } from '../base/printable.js';
import type { FlagsSettings } from '../base/settings.types.js';
import type {
  ConfigurationChange,
  CustomStrategy,
  EnvironmentConfiguration,
  Impression,
  TextEncoding,
} from '../evaluation/evaluation.types.js';
import { type EvaluationProblem, ProblemReporter } from '../evaluation/problem.js';
import type { Snapshot } from '../evaluation/snapshot.js';
import { STRATEGIES } from '../evaluation/strategies.js';
import type { EnvironmentCount, FlagUsage } from '../evaluation/usage.js';
import { flagDocuments } from '../flags/flag.kind.js';
import { segmentDocuments } from '../segments/segment.kind.js';
import type { KeyedUpdate } from '../storage/documents.js';
import { newestPosition } from '../storage/feed-pages.js';
import type { DocumentKey, FlagsStorage } from '../storage/port.js';
import { startUsageRecorder, type UsageRecorder } from '../usage/usage-recorder.js';
import type { UsageWriter } from '../usage/usage-writer.js';
import { type ChangePoller, type StateAt, startChangePoller } from './change-poller.js';
import { DocumentCache } from './document-cache.js';
import { Environment, type EnvironmentOptions } from './environment.js';

/** All compiled environments, kept current with the documents in memory. */
export interface EvaluationState {
  /** The default environment. */
  readonly standard: Pick<Environment, 'snapshot'>;
  /** Returns the snapshot of an environment, or undefined for an unknown one. The first call compiles it. */
  snapshotOf(environment: string): Snapshot | undefined;
  /** Returns a frozen object, the same one until a change. Returns undefined for an unknown environment. */
  configurationOf(environment: string): EnvironmentConfiguration | undefined;
  /**
   * Applies the new states of the documents of a commit, or of several. Ignores an update that is not newer. Synchronous:
   * no evaluation sees some of the documents without the others. Notifies listeners after the last document.
   */
  applyUpdates(updates: readonly KeyedUpdate[]): void;
  /** Replaces all documents by those of another cache, also by older ones, at once. Notifies listeners of the differences. */
  replaceDocuments(loaded: DocumentCache): void;
  /** Returns and resets the evaluation counts, one sum per environment and flag. */
  drain(): readonly EnvironmentCount[];
}

export interface EvaluationStateOptions {
  readonly settings: FlagsSettings;
  readonly storage: Pick<FlagsStorage, 'peek'>;
  readonly documents: DocumentCache;
  readonly options: EnvironmentOptions;
  /** Called after documents have changed, before `onChange`. */
  readonly onDocuments: (changed: readonly DocumentKey[]) => void;
  /** Called after a change, once for each environment that it concerns. */
  readonly onChange: (change: ConfigurationChange) => void;
  /** Called when a flag is deleted: a later flag of the same name must not get its pending counts. */
  readonly onDeleted: (flag: string) => void;
}

function createEvaluationState(parts: EvaluationStateOptions): EvaluationState {
  const { settings, storage, documents, options, onDocuments, onChange, onDeleted } = parts;
  const names = new Set(settings.environments.map(({ name }) => name));
  const environments = new Map<string, Environment>();
  const configurations = new Map<string, EnvironmentConfiguration>();
  let version = 1;

  function environmentOf(name: string): Environment | undefined {
    const known = environments.get(name);
    if (known || !names.has(name)) return known;
    const compiled = new Environment(name, documents, options);
    environments.set(name, compiled);
    return compiled;
  }

  /** Drops the counts of a deleted flag. A later flag of the same name must not get them. */
  function forget(flag: string): void {
    for (const { counters } of environments.values()) counters.forget(flag);
    onDeleted(flag);
  }

  /** Returns whether the document changes. */
  function applyUpdate({ key, update }: KeyedUpdate): boolean {
    if (!documents.isNewer(key, update.revision)) return false;
    if (update.state === undefined && key.kind === flagDocuments.kind) forget(key.id);
    return documents.applyUpdate(key, update.revision, ownState(key, update));
  }

  /**
   * Returns a state that nobody else changes: the one that the storage keeps, or a copy. The caller of a change holds
   * parts of the written state.
   */
  function ownState(key: DocumentKey, { revision, state }: KeyedUpdate['update']): unknown {
    const stored = storage.peek?.(key);
    return stored && stored.revision === revision ? stored.body : copyJson(state);
  }

  /** Compiles what the changed documents concern, and notifies listeners. */
  function recompile(keys: readonly DocumentKey[]): void {
    if (keys.length > 0) onDocuments(keys);
    const idsOf = (kind: string) => keys.flatMap((key) => (key.kind === kind ? [key.id] : []));
    const flags = new Set(idsOf(flagDocuments.kind));
    const segments = new Set(idsOf(segmentDocuments.kind).map(Number));
    const changes: ConfigurationChange[] = [];
    for (const [environment, one] of environments) {
      const names = one.update({ flags, segments });
      if (names.length + segments.size > 0) changes.push({ environment, flags: names, segments: [...segments] });
    }
    if (changes.length === 0) return;
    configurations.clear();
    version += 1;
    for (const change of changes) onChange(change);
  }

  return {
    standard: environmentOf(settings.environment) as Environment,
    snapshotOf: (environment) => environmentOf(environment)?.snapshot,
    configurationOf(environment) {
      const known = configurations.get(environment) ?? environmentOf(environment)?.configuration(version);
      if (known) configurations.set(environment, known);
      return known;
    },
    applyUpdates(updates) {
      recompile(updates.filter(applyUpdate).map(({ key }) => key));
    },
    replaceDocuments(loaded) {
      const keys = documents.replaceBy(loaded);
      for (const { kind, id } of keys) if (kind === flagDocuments.kind && !loaded.flags.has(id)) forget(id);
      recompile(keys);
    },
    drain: () => [...environments].flatMap(([environment, { counters }]) => countsOf(environment, counters.drain())),
  };
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
  readonly options: EnvironmentOptions;
  readonly poller: ChangePoller;
  /**
   * Applies the documents of an own commit. Follows the feed first if another process has changed one of them: alone, the
   * document would show a part of the other's change set.
   */
  readonly applyCommit: (updates: readonly KeyedUpdate[], changeSet: string) => Promise<void> | void;
  readonly usage: UsageRecorder;
  /** The name of this process in usage. */
  readonly instance: string;
  readonly impressions: Listeners<Impression>;
  /** Notified after documents in memory have changed, also where evaluation sees no difference. */
  readonly changedDocuments: Listeners<readonly DocumentKey[]>;
  /** Notified after every change that evaluation sees. */
  readonly changes: Listeners<ConfigurationChange>;
  /** Notified of the evaluations that each flush of usage records. */
  readonly counts: Listeners<readonly EnvironmentCount[]>;
  /** For problems that evaluation finds outside of snapshots. */
  readonly problems: ProblemReporter;
}

/** The options of `openFlags` that evaluation needs. */
export interface ReplicaOptions {
  readonly strategies?: readonly CustomStrategy[];
  readonly idEncoding?: TextEncoding;
  readonly onProblem?: (problem: EvaluationProblem) => void;
  readonly usage?: {
    readonly application?: string | undefined;
    readonly instance?: string | undefined;
    readonly interval?: number;
  };
}

/** Follows the documents for a limit on their size. */
interface DocumentCounter {
  load(storage: FlagsStorage): Promise<void>;
  isNewer(key: DocumentKey, revision: number): boolean;
  applyUpdate(key: DocumentKey, update: KeyedUpdate['update']): void;
}

export interface ReplicaContext {
  readonly storage: FlagsStorage;
  readonly usageWriter: UsageWriter;
  readonly settings: FlagsSettings;
  readonly now: () => Date;
  readonly pollInterval: number;
  readonly onError: (error: unknown) => void;
  /** Counts the bytes that other processes write; undefined without a limit. */
  readonly size: DocumentCounter | undefined;
  readonly stateAt: StateAt;
}

/** The state that a replica starts with. */
export interface LoadedDocuments {
  /** The position of the newest event before the documents were read; undefined before the first event. */
  readonly after: string | undefined;
  readonly documents: DocumentCache;
}

/** Reads all flags and segments, then follows the changes of other processes. */
export async function openReplica(options: ReplicaOptions, context: ReplicaContext): Promise<Replica> {
  const replica = startReplica(options, context, await loadDocuments(context));
  // The documents were read one kind after the other. The feed brings all of them to one state.
  await replica.poller.refresh();
  return replica;
}

async function loadDocuments({ storage, size }: Pick<ReplicaContext, 'storage' | 'size'>): Promise<LoadedDocuments> {
  // The position is read before the documents, so that the poller misses no change.
  const after = await newestPosition(storage);
  const documents = new DocumentCache();
  await documents.load(storage);
  await size?.load(storage);
  return { after, documents };
}

/** Starts a replica from documents in memory. */
export function startReplica(
  host: ReplicaOptions,
  context: ReplicaContext,
  { after, documents }: LoadedDocuments,
): Replica {
  const { storage, usageWriter, settings, now, pollInterval, onError, size, stateAt } = context;
  const { strategies = [], idEncoding = 'utf8', onProblem = warnOf } = host;
  const { application = 'default', instance = `${hostname()}-${process.pid}`, interval = 10_000 } = host.usage ?? {};
  const impressions = createListeners<Impression>(onError);
  const changedDocuments = createListeners<readonly DocumentKey[]>(onError);
  const changes = createListeners<ConfigurationChange>(onError);
  const counts = createListeners<readonly EnvironmentCount[]>(onError);
  const problems = new ProblemReporter(onProblem);
  const clock = () => now().getTime();
  const options: EnvironmentOptions = {
    strategies,
    idEncoding,
    // All environments share a reporter: most problems of a flag are the same in each.
    onProblem: (problem) => problems.report(problem),
    now: clock,
    hostname: hostname(),
    onImpression: impressions.notify,
  };
  const state = createEvaluationState({
    settings,
    storage,
    documents,
    options,
    onDocuments: changedDocuments.notify,
    onChange: changes.notify,
    onDeleted: (flag) => usage.forget(flag),
  });
  const usage = startUsageRecorder({
    writer: usageWriter,
    now,
    application,
    instance,
    strategies: [...STRATEGIES.keys(), ...strategies.map(({ name }) => name)],
    interval,
    drain() {
      const drained = state.drain();
      counts.notify(drained);
      return drained;
    },
    onError,
  });
  const poller = startChangePoller({
    storage,
    stateAt,
    now,
    pollInterval,
    after,
    isNewer: (key, revision) => documents.isNewer(key, revision) || (size?.isNewer(key, revision) ?? false),
    applyUpdates(updates) {
      for (const { key, update } of updates) size?.applyUpdate(key, update);
      state.applyUpdates(updates);
    },
    onError,
    async reload() {
      const loaded = await loadDocuments(context);
      state.replaceDocuments(loaded.documents);
      return loaded.after;
    },
  });
  const hasMissed = ({ key, update: { before } }: KeyedUpdate) => before && documents.isNewer(key, before.revision);
  const applyCommit = (updates: readonly KeyedUpdate[], changeSet: string) => {
    poller.expect(changeSet);
    // The storage works again. The server may be another one, whose revisions are lower than those in memory.
    if (poller.status().state === 'stale') void poller.refresh();
    if (!updates.some(hasMissed)) return state.applyUpdates(updates);
    return poller.refresh().then(() => state.applyUpdates(updates));
  };
  const listeners = { impressions, changedDocuments, changes, counts };
  return { state, documents, options, poller, applyCommit, usage, instance, ...listeners, problems };
}

/** Stops the timers and records the pending counts. Evaluation still works afterwards, from memory. */
export async function closeReplica({ poller, usage }: Replica): Promise<void> {
  await poller.close();
  await usage.close();
}

function warnOf({ message, code }: EvaluationProblem): void {
  emitWarning(message, { code });
}
