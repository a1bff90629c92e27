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

export function pause(time: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, time));
}
