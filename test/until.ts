import { setTimeout } from 'node:timers/promises';

/** Resolves as soon as the condition is true. The time limit of jest ends the wait. */
export async function until(condition: () => boolean | undefined | Promise<boolean | undefined>): Promise<void> {
  while ((await condition()) !== true) await setTimeout(5);
}
