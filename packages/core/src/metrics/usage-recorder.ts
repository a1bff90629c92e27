import type { FlagCount, MetricsStorage } from '../storage/metrics-port.js';
import type { MetricsRetention } from './retention.js';

export interface UsageRecorder {
  /** Records what was counted since the last time. A failure keeps the counts for the next time, and is told. */
  flush(): Promise<void>;
  /** Drops what waits of a flag that was deleted. */
  forget(flag: string): void;
  /** Ends the timer and records the rest. */
  close(): Promise<void>;
}

export interface UsageOptions {
  readonly metrics: MetricsStorage;
  readonly retention: Pick<MetricsRetention, 'pruneWhenDue' | 'mayHaveDropped'>;
  readonly now: () => Date;
  readonly application: string;
  readonly instance: string;
  /** Names of the strategies that this process evaluates. */
  readonly strategies: readonly string[];
  /** Milliseconds; 0: only when asked. */
  readonly interval: number;
  /** What was counted since it was last asked, each flag at most once. */
  readonly drain: () => readonly FlagCount[];
  /** Told once when recording begins to fail, and again only after it has worked in between, or when counts are lost. */
  readonly onError: (error: unknown) => void;
}

/**
 * Feeds what is evaluated in this process into the same metrics that other processes report to. Counts wait in memory,
 * one pair of numbers for a flag, however long recording fails.
 */
export function startUsageRecorder(options: UsageOptions): UsageRecorder {
  const { retention, drain, onError } = options;
  const send = createSender(options);
  const waiting = createTally();
  // Since the record that is under way began: what it cannot record must not come back.
  const forgotten = new Set<string>();
  let isFailureTold = false;
  let closing = false;
  let latest: Promise<void> = Promise.resolve();

  async function record(): Promise<void> {
    forgotten.clear();
    waiting.add(drain());
    const counts = waiting.take();
    if (counts.length === 0) return;
    try {
      await send(counts);
      isFailureTold = false;
    } catch (error) {
      waiting.add(counts.filter(({ flag }) => !forgotten.has(flag)));
      if (!isFailureTold || closing) onError(error);
      isFailureTold = true;
      return;
    }
    await retention.pruneWhenDue();
  }

  /** One after the other, so that a failure's counts are given back before the next begins. */
  function flush(): Promise<void> {
    latest = latest.then(record);
    return latest;
  }

  const timer = options.interval > 0 ? setInterval(() => void flush(), options.interval).unref() : undefined;
  return {
    flush,
    forget(flag) {
      waiting.forget(flag);
      forgotten.add(flag);
    },
    close() {
      clearInterval(timer);
      closing = true;
      return flush();
    },
  };
}

/** Records counts, and before those that find it unknown, or perhaps dropped, tells which application it is that counts. */
function createSender({ metrics, retention, now, application, instance, strategies }: UsageOptions) {
  const origin = { application, instance: { id: instance } };
  let seenAt: number | undefined;
  return async (counts: readonly FlagCount[]): Promise<void> => {
    const at = now().getTime();
    if (seenAt === undefined || retention.mayHaveDropped(seenAt)) {
      await metrics.register({ ...origin, at, strategies });
      seenAt = at;
    }
    await metrics.record([{ ...origin, at, stop: at, counts }]);
    seenAt = at;
  };
}

/** Counts that wait, added up by flag. */
interface Tally {
  add(counts: readonly FlagCount[]): void;
  /** Gives all, and keeps none. */
  take(): readonly FlagCount[];
  forget(flag: string): void;
}

function createTally(): Tally {
  const sums = new Map<string, FlagCount>();
  return {
    add(counts) {
      for (const { flag, yes, no } of counts) {
        const others = sums.get(flag);
        sums.set(flag, { flag, yes: yes + (others?.yes ?? 0), no: no + (others?.no ?? 0) });
      }
    },
    take() {
      const all = [...sums.values()];
      sums.clear();
      return all;
    },
    forget: (flag) => void sums.delete(flag),
  };
}
