import { signal } from '@preact/signals';
import { API } from '../settings.js';
import { ApiError, call, send } from './call.js';
import { framesOf } from './frames.js';

/**
 * `live`: events arrive by stream. `polling`: the page asks every few seconds. `lost`: the server does not answer.
 * `refused`: the caller may not read events.
 */
export type Liveness = 'connecting' | 'live' | 'polling' | 'lost' | 'refused';

export const liveness = signal<Liveness>('connecting');
/** When the page last heard from the server. */
export const heardAt = signal(Date.now());

/** The members of an event that the page reads. */
export interface Hint {
  readonly project?: string | null;
  readonly featureName?: string | null;
}

const POLL_EVERY = 5_000;
const RETRY_AFTER = [1_000, 2_000, 5_000, 10_000];

/** A burst of events ends after this time without an event. It causes one reload: a set of 500 flags has more events. */
const QUIET = 100;

/** The longest burst. A loaded server sends the events of a large set in several pieces. */
const BURST = 1_000;

/**
 * Follows the changes of the server while the tab is visible.
 *
 * @param onChange called with the flags that have changed; undefined: anything may have changed
 */
export function followChanges(onChange: (flags?: readonly string[]) => void): () => void {
  let flags: Set<string> | undefined = new Set();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let end: number | undefined;
  const stop = followEvents((hint) => {
    if (hint?.featureName == null) flags = undefined;
    else flags?.add(hint.featureName);
    end ??= Date.now() + BURST;
    clearTimeout(timer);
    timer = setTimeout(
      () => {
        const changed = flags;
        flags = new Set();
        end = undefined;
        onChange(changed && [...changed]);
      },
      Math.max(0, Math.min(QUIET, end - Date.now())),
    );
  });
  return () => {
    clearTimeout(timer);
    stop();
  };
}

/**
 * Follows the events of the server while the tab is visible, and calls `onEvent` for each one. Resumes after the last
 * event. Polls if the server has no stream. Undefined flags: anything may have changed.
 */
function followEvents(onEvent: (hint?: Hint) => void): () => void {
  let running = new AbortController();
  let lastId: string | undefined;

  async function run({ signal: stop }: AbortController): Promise<void> {
    let failures = 0;
    while (!stop.aborted) {
      try {
        await readStream(stop);
        failures = 0;
      } catch (error) {
        if (stop.aborted) return;
        const status = error instanceof ApiError ? error.status : 0;
        if (status === 404 || status === 501) return poll(stop);
        if (status === 403) liveness.value = 'refused';
        if (status === 401 || status === 403) return;
        failures++;
        if (failures > 1) liveness.value = 'lost';
      }
      await pause(RETRY_AFTER[Math.min(failures, RETRY_AFTER.length - 1)] ?? 0, stop);
    }
  }

  async function readStream(stop: AbortSignal): Promise<void> {
    const response = await send(new URL('api/admin/event-stream', API), 'GET', {
      signal: stop,
      headers: { accept: 'text/event-stream', ...(lastId !== undefined && { 'last-event-id': lastId }) },
    });
    if (!response.ok || response.body === null) {
      await response.body?.cancel();
      throw new ApiError(response.status, 'no_stream', 'The server sends no events.');
    }
    liveness.value = 'live';
    // The stream begins now: what the page has read before may be out of date.
    if (lastId === undefined) onEvent();
    for await (const { id, data } of framesOf(response.body.pipeThrough(new TextDecoderStream()))) {
      heardAt.value = Date.now();
      if (id !== undefined) lastId = id;
      if (data !== undefined) onEvent(hintOf(data));
    }
  }

  async function poll(stop: AbortSignal): Promise<void> {
    let newest: number | undefined;
    while (!stop.aborted) {
      try {
        const { data } = await call('listEvents', { query: { limit: 1 }, signal: stop });
        const id = data.events[0]?.id ?? 0;
        liveness.value = 'polling';
        heardAt.value = Date.now();
        if (id !== newest) onEvent();
        newest = id;
      } catch {
        if (stop.aborted) return;
        liveness.value = 'lost';
      }
      await pause(POLL_EVERY, stop);
    }
  }

  function onVisibility(): void {
    running.abort();
    if (document.hidden) return;
    running = new AbortController();
    void run(running);
  }

  document.addEventListener('visibilitychange', onVisibility);
  onVisibility();
  return () => {
    running.abort();
    document.removeEventListener('visibilitychange', onVisibility);
  };
}

function hintOf(data: string): Hint | undefined {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}

/** Resolves after a number of milliseconds, or when `stop` aborts. */
export function pause(milliseconds: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    stop.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
