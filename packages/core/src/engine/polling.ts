export interface PollingOptions {
  /** Milliseconds, at least 1. */
  readonly interval: number;
  /** Gives whether it has worked; does not fail. */
  readonly look: () => Promise<boolean>;
}

/** Milliseconds; or the interval, where that is longer. */
const LONGEST_PAUSE = 15_000;

/**
 * Looks once per interval. While that fails it looks ever more seldom, at random times: of many who wait for one database,
 * not all come back in the same moment. Keeps no process alive.
 *
 * @returns a function that ends it
 */
export function startPolling({ interval, look }: PollingOptions): () => void {
  let failures = 0;
  let isStopped = false;
  let timer = setTimeout(poll, interval).unref();

  async function poll(): Promise<void> {
    failures = (await look()) ? 0 : failures + 1;
    if (!isStopped) timer = setTimeout(poll, pauseAfter(failures, interval)).unref();
  }

  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}

function pauseAfter(failures: number, interval: number): number {
  if (failures === 0) return interval;
  const longest = Math.min(interval * 2 ** failures, Math.max(interval, LONGEST_PAUSE));
  return longest * (0.5 + Math.random() / 2);
}
