import { pause } from '../connection/retries.js';

/** Something that is done when it is asked for, and not again before a pause is over. */
export interface Spaced {
  /** Does it at once, or once after the pause, however often it is asked for meanwhile. */
  ask(): void;
  /** Does without the pause what waits for it, and resolves when nothing is under way. */
  finish(): Promise<void>;
}

/** @param gap milliseconds; they keep no process alive */
export function spaced(gap: number, work: () => unknown): Spaced {
  let underway: Promise<void> | undefined;
  let isWanted = false;
  const finishing = new AbortController();

  async function run(): Promise<void> {
    while (isWanted) {
      isWanted = false;
      await work();
      await pause(gap, finishing.signal);
    }
    underway = undefined;
  }

  return {
    ask() {
      isWanted = true;
      underway ??= run();
    },
    async finish() {
      finishing.abort();
      await underway;
    },
  };
}
