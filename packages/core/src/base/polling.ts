export interface PollingOptions {
  /** Milliseconds, at least 1. */
  readonly interval: number;
  /** Polls once. Resolves to whether the poll succeeded; never rejects. */
  readonly attempt: () => Promise<boolean>;
}

export interface Polling {
  /** Resets the backoff after another read of the storage succeeded. */
  resetBackoff(): void;
  /** Stops polling. */
  stop(): void;
}

/** In milliseconds. A longer interval replaces it. */
const MAX_PAUSE = 15_000;

/**
 * Polls once per interval. After failures it backs off exponentially. Jitter keeps nodes from polling the database at
 * the same moment. The timer does not keep the process alive.
 */
export function startPolling({ interval, attempt }: PollingOptions): Polling {
  let failures = 0;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;

  function wait(): void {
    timer = setTimeout(poll, pauseAfter(failures, interval)).unref();
  }

  async function poll(): Promise<void> {
    timer = undefined;
    failures = (await attempt()) ? 0 : failures + 1;
    if (!isStopped) wait();
  }

  wait();
  return {
    resetBackoff() {
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
  const longest = Math.min(interval * 2 ** failures, Math.max(interval, MAX_PAUSE));
  return longest * (0.5 + Math.random() / 2);
}
