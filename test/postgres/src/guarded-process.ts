import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { RunAs } from './run-as.js';

/**
 * Starts a background shell that reads a pipe from the parent process, and replaces itself by the program. A line ends the
 * shell. The end of the file means that the parent has died, even by SIGKILL: the shell ends the program and removes its
 * directory.
 */
const GUARD = `
  (
    read -r _ <&3 && exit
    kill -QUIT $$; kill -CONT $$
    tenths=0; while kill -0 $$ && [ $tenths -lt 100 ]; do tenths=$((tenths + 1)); sleep 0.1; done
    rm -rf "$0"
  ) 2>/dev/null >/dev/null &
  exec "$@" 3<&-`;

export interface GuardedProcess {
  readonly pid: number;
  readonly isRunning: () => boolean;
  signal(signal: NodeJS.Signals): void;
  /** Resolves when the process has ended. */
  ended(): Promise<void>;
}

export interface GuardedProgram {
  readonly command: readonly string[];
  /** Removed when the parent process dies. */
  readonly directory: string;
  /** The file for its output. */
  readonly log: string;
  readonly as: RunAs;
}

/** Starts a program that ends with this process and does not keep it alive. */
export function startGuarded({ command, directory, log, as }: GuardedProgram): GuardedProcess {
  const output = openSync(log, 'a');
  const child = spawn('/bin/sh', ['-c', GUARD, directory, ...command], {
    ...as,
    cwd: directory,
    // Detached from Ctrl-C, because the tests end the server in their own order.
    detached: true,
    stdio: ['ignore', output, output, 'pipe'],
  });
  closeSync(output);
  const guard = child.stdio[3] as Socket;
  guard.unref();
  child.unref();
  const end = once(child, 'exit').then(() => void guard.end('\n'));
  return {
    pid: child.pid ?? Number.NaN,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    signal: (signal) => void child.kill(signal),
    async ended() {
      child.ref();
      await end;
    },
  };
}
