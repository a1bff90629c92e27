import { type Consumer, type EvaluationStatus, FlagsError, type FlagsEvent, type ListPage } from '@flags/core';
import { onUsageFlush } from '@flags/core/integration/opentelemetry';
import { describeNonFlags, sleep } from '@flags/core/integration/shared';
import type { SubscribeOptions } from '@flags/core/types';
import type {
  BatchObservableCallback,
  BatchObservableResult,
  Meter,
  MeterProvider,
  Observable,
} from '@opentelemetry/api';
import { EvaluationSeries } from './evaluation-series.js';
import { attempt, describeWrongOptions, meterOf, reportFailure } from './meter.js';

/** Options of `instrumentFlags`. All have defaults. */
export interface InstrumentFlagsOptions {
  /** Creates the meter. Default: the registered provider. */
  readonly meterProvider?: MeterProvider;
  /**
   * Returns whether the evaluations of a flag have series of their own. There are 500 series; later flags, and those
   * for which it returns false, are counted together with the key `other`. Default: all flags, first come.
   */
  readonly isCounted?: (flag: string) => boolean;
}

/** What `instrumentFlags` observes: the result of `openFlags`, or of `followFlags`. */
export interface InstrumentedFlags {
  readonly closing: AbortSignal;
  status(): EvaluationStatus & {
    /** Whether a follower has a connection. */
    readonly connected?: boolean;
  };
  /** Followers have none. */
  subscribe?(listener: (event: FlagsEvent) => void, options?: SubscribeOptions): () => void;
  /** Followers have none. */
  readonly consumers?: { list(): Promise<ListPage<Consumer>> };
}

/** The record type requires an entry for every option. */
const OPTIONS: Readonly<Record<keyof InstrumentFlagsOptions, true>> = { meterProvider: true, isCounted: true };

/** The longest time that a collection of metrics waits for the storage, in milliseconds. */
const CONSUMERS_TIMEOUT = 5_000;

/**
 * Counts what flags do, as metrics of OpenTelemetry: evaluations, changes, lost histories, dropped usage, whether the
 * flags are current, what waits for its time, and consumers that are behind or fail; of a follower evaluations, dropped
 * usage and its connection. Call it once for each instance, after the SDK of OpenTelemetry has started. Evaluations are
 * added when usage is recorded, every 10 seconds by default (`usage.interval`), and when the flags close. Errors of the
 * metrics library go to its own logger.
 *
 * @returns a function that ends all of it. Closing the flags ends it as well, after the last evaluations @throws
 * TypeError if `flags` is not a `Flags` or a follower, for example a promise, and for an unknown or invalid option
 * @throws FlagsError `closed` @example const flags = await openFlags({ storage: memoryStorage() }); const stop =
 * instrumentFlags(flags, { isCounted: (flag) => flag.startsWith('checkout-') });
 */
export function instrumentFlags(flags: InstrumentedFlags, options: InstrumentFlagsOptions = {}): () => void {
  const fault = describeNonFlags(flags) ?? describeWrongOptions(options, Object.keys(OPTIONS));
  if (fault) throw new TypeError(`instrumentFlags ${fault}`);
  const { closing } = flags;
  if (closing.aborted) throw new FlagsError('closed', 'This instance is closed; create another one.');
  const meter = meterOf(options.meterProvider);
  // Not among the others: the last flush comes while the flags close.
  const stopCounting = countEvaluations(flags, meter, options);
  const stops = [countChanges(flags, meter), observeStatus(flags, meter), observeConsumers(flags, meter)];

  function stopObserving(): void {
    for (const stop of stops.splice(0)) stop();
  }

  closing.addEventListener('abort', stopObserving, { once: true });
  return () => {
    closing.removeEventListener('abort', stopObserving);
    stopCounting();
    stopObserving();
  };
}

function countEvaluations(
  flags: InstrumentedFlags,
  meter: Meter,
  { isCounted = () => true }: InstrumentFlagsOptions,
): () => void {
  /**
   * `feature_flag.key`, `flags.environment`, `flags.result` (`on` or `off`), and `feature_flag.result.variant` if a
   * variant was asked for.
   */
  const counter = meter.createCounter('flags.evaluations', {
    description: 'Evaluations of flags in this process.',
    unit: '{evaluation}',
  });
  const series = new EvaluationSeries(counter, isCounted);
  return onUsageFlush(flags, (flush) => series.add(flush));
}

function countChanges(flags: InstrumentedFlags, meter: Meter): () => void {
  if (!flags.subscribe) return () => undefined;
  /** `flags.event.type`, such as `environment-enabled`. */
  const changes = meter.createCounter('flags.changes', {
    description: 'Events of the log since the start of this process, committed by any process.',
    unit: '{event}',
  });
  const losses = meter.createCounter('flags.history.losses', {
    description: 'Times that the storage had lost changes which this process had seen.',
    unit: '{loss}',
  });
  // A rate needs the value before the first loss.
  attempt(() => losses.add(0));
  return flags.subscribe(({ type }) => attempt(() => changes.add(1, { 'flags.event.type': type })), {
    onHistoryLost: () => attempt(() => losses.add(1)),
  });
}

function observeStatus(flags: InstrumentedFlags, meter: Meter): () => void {
  const stale = meter.createObservableGauge('flags.stale', {
    description: '1 while the flags cannot be read from their storage or server, else 0.',
  });
  /** `flags.dropped.kind`: `names`, `reports` or `usage`. */
  const dropped = meter.createObservableCounter('flags.dropped', {
    description: 'Reported usage that limits have dropped.',
    unit: '{item}',
  });
  const walSize = meter.createObservableGauge('flags.wal.size', {
    description: 'Size of the write-ahead log of SQLite.',
    unit: 'By',
  });
  const connected = meter.createObservableGauge('flags.follower.connected', {
    description: '1 while the follower has a connection to its server, else 0.',
  });
  const pending = meter.createObservableGauge('flags.due.pending', {
    description: 'Change requests and steps of rollouts that wait for their time, on nodes that do what is due.',
    unit: '{item}',
  });
  const overdue = meter.createObservableGauge('flags.due.overdue', {
    description: 'Change requests and steps of rollouts that have been due for more than ten seconds.',
    unit: '{item}',
  });
  const unguarded = meter.createObservableGauge('flags.rollouts.unguarded', {
    description: 'Guarded rollouts whose steps this node does not take, because it has no guard.',
    unit: '{rollout}',
  });
  return observe(meter, [stale, dropped, walSize, connected, pending, overdue, unguarded], (result) => {
    const status = flags.status();
    result.observe(stale, Number(status.state === 'stale'));
    const { names, reports, usage = 0 } = status.dropped ?? { names: 0, reports: 0 };
    for (const [kind, count] of Object.entries({ names, reports, usage })) {
      result.observe(dropped, count, { 'flags.dropped.kind': kind });
    }
    if (status.walBytes !== undefined) result.observe(walSize, status.walBytes);
    if (status.connected !== undefined) result.observe(connected, Number(status.connected));
    if (status.due !== undefined) {
      result.observe(pending, status.due.pending);
      result.observe(overdue, status.due.overdue);
      result.observe(unguarded, status.due.unguarded);
    }
  });
}

function observeConsumers(flags: InstrumentedFlags, meter: Meter): () => void {
  if (!flags.consumers) return () => undefined;
  /** `flags.consumer`. */
  const lag = meter.createObservableGauge('flags.consumer.lag', {
    description: 'Events that a consumer has not handled yet, counted up to 1,000.',
    unit: '{event}',
  });
  /** `flags.consumer`. */
  const lagTime = meter.createObservableGauge('flags.consumer.lag.time', {
    description: 'Age of the oldest event that a consumer has not handled yet.',
    unit: 's',
  });
  /** `flags.consumer`. */
  const failing = meter.createObservableGauge('flags.consumer.failing', {
    description: '1 while a consumer repeats events because its handler has failed, else 0.',
  });
  const list = shareRunning(async () => flags.consumers?.list());
  return observe(meter, [lag, lagTime, failing], async (result) => {
    const page = await within(CONSUMERS_TIMEOUT, list());
    for (const { name, lag: behind, error } of page?.items ?? []) {
      result.observe(lag, behind.events, { 'flags.consumer': name });
      result.observe(lagTime, behind.ms / 1000, { 'flags.consumer': name });
      result.observe(failing, Number(error !== null), { 'flags.consumer': name });
    }
  });
}

/** Adds an observation to every collection. Returns a function that removes it. */
function observe(
  meter: Meter,
  observables: Observable[],
  measure: (result: BatchObservableResult) => void | Promise<void>,
): () => void {
  const callback: BatchObservableCallback = async (result) => {
    try {
      await measure(result);
    } catch (error) {
      reportFailure(error);
    }
  };
  attempt(() => meter.addBatchObservableCallback(callback, observables));
  return () => attempt(() => meter.removeBatchObservableCallback(callback, observables));
}

/** Shares a running call among its callers, so that calls that hang do not pile up. */
function shareRunning<Result>(call: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | undefined;
  return () => {
    running ??= call().finally(() => {
      running = undefined;
    });
    return running;
  };
}

/** Resolves to the result, or to undefined after the time. */
async function within<Result>(milliseconds: number, result: Promise<Result>): Promise<Result | undefined> {
  const end = new AbortController();
  try {
    return await Promise.race([result, sleep(milliseconds, end.signal).then(() => undefined)]);
  } finally {
    end.abort();
  }
}
