import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Kills a process that is running, and resolves when all that it has said is heard. */
export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) throw new Error('A process ended by itself.');
  // What it has said before is still in the channel: it is closed after the last message.
  const ends = Promise.all([once(child, 'exit'), once(child, 'disconnect')]);
  child.kill('SIGKILL');
  await ends;
}
