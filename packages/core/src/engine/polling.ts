export interface PollingOptions {
  /** Milliseconds, at least 1. */
  readonly interval: number;
  /** Gives whether it has worked; does not fail. */
  readonly look: () => Promise<boolean>;
}

export interface Polling {
  /** Somebody else has found that it works again: the next look comes after the interval, however seldom looks had become. */
  worked(): void;
  /** Ends it. */
  stop(): void;
}

/** Milliseconds; or the interval, where that is longer. */
const LONGEST_PAUSE = 15_000;

/**
 * Looks once per interval. While that fails it looks ever more seldom, at random times: of many who wait for one database,
 * not all come back in the same moment. Keeps no process alive.
 */
export function startPolling({ interval, look }: PollingOptions): Polling {
  let failures = 0;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;

  function wait(): void {
    timer = setTimeout(poll, pauseAfter(failures, interval)).unref();
  }

  async function poll(): Promise<void> {
    timer = undefined;
    failures = (await look()) ? 0 : failures + 1;
    if (!isStopped) wait();
  }

  wait();
  return {
    worked() {
      if (failures === 0 || timer === undefined || isStopped) return;
      failures = 0;
      clearTimeout(timer);
      wait();
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

function pauseAfter(failures: number, interval: number): number {
  if (failures === 0) return interval;
  const longest = Math.min(interval * 2 ** failures, Math.max(interval, LONGEST_PAUSE));
  return longest * (0.5 + Math.random() / 2);
}
