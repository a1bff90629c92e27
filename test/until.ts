import { setTimeout } from 'node:timers/promises';

/** Resolves as soon as the condition holds; jest's own time limit ends the waiting. */
export async function until(condition: () => boolean | undefined | Promise<boolean | undefined>): Promise<void> {
  while ((await condition()) !== true) await setTimeout(5);
}
