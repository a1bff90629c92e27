import { hostname } from 'node:os';
import type { Settings } from '../api/engine.js';
import type { Impression } from '../api/evaluation.js';
import type { EvaluationProblem } from '../api/evaluation-problem.js';
import type { FlagsOptions } from '../api/options.js';
import type { MetricsRetention } from '../engine/metrics-retention.js';
import { newestPosition } from '../engine/read-feed.js';
import type { StateSize } from '../engine/state-size.js';
import { BUILT_IN_STRATEGIES } from '../evaluation/strategies/built-in.js';
import type { MetricsStorage } from '../metrics/port.js';
import type { Storage } from '../storage/port.js';
import { type Follower, startFollower } from './follower.js';
import { createListeners, type Listeners } from './listeners.js';
import { createLiveDocuments, type LiveDocuments } from './live-documents.js';
import { createLiveState, type LiveState } from './live-state.js';
import { startUsageRecorder, type UsageRecorder } from './usage-recorder.js';

/** What evaluation in this process works with. */
export interface Live {
  readonly state: LiveState;
  readonly documents: LiveDocuments;
  readonly follower: Follower;
  readonly usage: UsageRecorder;
  readonly impressions: Listeners<Impression>;
  /** Told after every change of a flag or segment. */
  readonly changes: Listeners<void>;
}

export interface LiveSurroundings {
  readonly storage: Storage;
  readonly metrics: MetricsStorage;
  readonly retention: MetricsRetention;
  readonly settings: Settings;
  readonly now: () => Date;
  readonly pollInterval: number;
  readonly onError: (error: unknown) => void;
  /** Told of what other processes write; absent when there is no limit. */
  readonly size: StateSize | undefined;
}

/** Reads all flags and segments, and follows what other processes change from then on. */
export async function openLive(options: FlagsOptions, surroundings: LiveSurroundings): Promise<Live> {
  const { storage, metrics, retention, settings, now, pollInterval, onError, size } = surroundings;
  const { strategies = [], idEncoding = 'utf8', onProblem = warnOf, appName = 'default', instanceId } = options;
  const impressions = createListeners<Impression>(onError);
  const changes = createListeners<void>(onError);
  // Asked before the documents are read, so that no change falls in between.
  const after = await newestPosition(storage);
  const documents = createLiveDocuments(storage);
  await documents.load();
  await size?.load(storage);

  const clock = () => now().getTime();
  const view = { strategies, idEncoding, onProblem, now: clock, hostname: hostname(), onImpression: impressions.tell };
  const state = createLiveState({
    settings,
    documents,
    view,
    onChange: changes.tell,
    onDeleted: (flag) => usage.forget(flag),
  });
  const usage = startUsageRecorder({
    metrics,
    retention,
    now,
    application: appName,
    instance: instanceId ?? `${hostname()}-${process.pid}`,
    strategies: [...BUILT_IN_STRATEGIES.keys(), ...strategies.map(({ name }) => name)],
    interval: options.usageInterval ?? 10_000,
    drain: state.drain,
    onError,
  });
  const follower = startFollower({
    storage,
    now,
    pollInterval,
    after,
    isNews: (key, revision) => documents.isNews(key, revision) || (size?.isNews(key, revision) ?? false),
    take(key, news) {
      size?.take(key, news);
      state.take(key, news);
    },
    onError,
  });
  return { state, documents, follower, usage, impressions, changes };
}

/** Ends the timers and records what was counted. Evaluation goes on from what is in memory. */
export async function closeLive({ follower, usage }: Live): Promise<void> {
  await follower.close();
  await usage.close();
}

function warnOf({ message, code }: EvaluationProblem): void {
  process.emitWarning(message, { type: 'FlagsWarning', code });
}
