import { LostRace, storageBusy } from './faults.js';

/** Losing more races than this in a row is told. */
const ATTEMPTS = 10;
/** Milliseconds. */
const LONGEST_PAUSE = 200;

/**
 * Runs what is undone whole when it fails, and again as long as it only loses races against others. Fails with
 * `storage_busy` when it keeps losing.
 */
export async function withRetries<T>(attempt: () => Promise<T>): Promise<T> {
  for (let count = 1; ; count++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof LostRace)) throw error;
      if (count === ATTEMPTS) throw storageBusy(error.message, error);
    }
    await pause(Math.random() * Math.min(LONGEST_PAUSE, 2 ** count));
  }
}

/** Resolves after so many milliseconds, or when the signal is given. A pause that has a signal keeps no process alive. */
export function pause(time: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const timer = setTimeout(finish, time);
    if (signal) timer.unref();
    signal?.addEventListener('abort', finish);

    function finish(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', finish);
      resolve();
    }
  });
}
