import { setTimeout as pause } from 'node:timers/promises';

/** Asks every 50 ms until the answer is true. Returns the milliseconds, or undefined if it did not become true. */
export async function until(isTrue: () => boolean | Promise<boolean>, patience: number): Promise<number | undefined> {
  const start = performance.now();
  while (!(await isTrue())) {
    if (performance.now() - start > patience) return undefined;
    await pause(50);
  }
  return performance.now() - start;
}
