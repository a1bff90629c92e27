import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Kills a running process. Resolves when all its messages have arrived. */
export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) throw new Error('A process ended by itself.');
  // Earlier messages are still in the channel, which closes after the last one.
  const ends = Promise.all([once(child, 'exit'), once(child, 'disconnect')]);
  child.kill('SIGKILL');
  await ends;
}
