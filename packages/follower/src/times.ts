/** Durations in milliseconds. Tests shorten them. */
export interface Times {
  /** Two heartbeats of a stream: a connection that is silent for this long has ended. */
  readonly silence: number;
  /** The same before the first message of a connection. Without a message, a proxy holds the stream back. */
  readonly firstMessage: number;
  /** The longest time that a short request takes. */
  readonly request: number;
  /** The longest pause before a new connection. */
  readonly backoff: number;
  /** After this time, a server without a stream is asked for one again. */
  readonly streamRetry: number;
  /** Between two checks of all known tokens. */
  readonly tokenCheck: number;
  /** How long an unknown token is remembered. */
  readonly unknownToken: number;
  /** The shortest time between two requests about tokens, after one that had an unknown token. */
  readonly tokenPause: number;
  /** The shortest time between two writes of the cache file. */
  readonly cacheWrite: number;
  /** How long a start waits for the server although there is a cache file. */
  readonly cachedStart: number;
  /** The longest time that `close` takes to send the last counts. */
  readonly close: number;
}

export const TIMES: Times = {
  silence: 30_000,
  firstMessage: 8_000,
  request: 10_000,
  backoff: 10_000,
  streamRetry: 600_000,
  tokenCheck: 15_000,
  unknownToken: 10_000,
  tokenPause: 120,
  cacheWrite: 5_000,
  cachedStart: 300,
  close: 3_000,
};

/** Returns the interval ± 20 %, so that many followers do not act at the same moment. */
export function jitter(interval: number): number {
  return interval * (0.8 + 0.4 * Math.random());
}

/** A signal that aborts with another one, and when its time is over. */
export interface Deadline {
  readonly signal: AbortSignal;
  readonly isOver: boolean;
  /** Starts the time again. */
  extend(milliseconds: number): void;
  /** Releases the timer and the other signal. */
  end(): void;
}

export function createDeadline(outer: AbortSignal, milliseconds: number): Deadline {
  const controller = new AbortController();
  const abort = () => controller.abort(outer.reason);
  let isOver = false;
  let timer: NodeJS.Timeout;
  const extend = (time: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      isOver = true;
      controller.abort(new Error(`nothing came for ${time / 1000} s`));
    }, time).unref();
  };
  extend(milliseconds);
  if (outer.aborted) abort();
  else outer.addEventListener('abort', abort, { once: true });
  return {
    signal: controller.signal,
    get isOver() {
      return isOver;
    },
    extend,
    end() {
      clearTimeout(timer);
      outer.removeEventListener('abort', abort);
    },
  };
}
