import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { RunAs } from './run-as.js';

/**
 * Becomes the program, beside a shell that listens to whom started it. A line dismisses the shell. The end of the file says
 * that the starter is dead, even by SIGKILL: then the program is ended and its directory removed.
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
  /** Resolves once it has ended. */
  ended(): Promise<void>;
}

export interface GuardedProgram {
  readonly command: readonly string[];
  /** Removed when the starter dies. */
  readonly directory: string;
  /** What it prints goes here. */
  readonly log: string;
  readonly as: RunAs;
}

/** Starts a program that does not outlive this process, and does not keep it alive either. */
export function startGuarded({ command, directory, log, as }: GuardedProgram): GuardedProcess {
  const output = openSync(log, 'a');
  const child = spawn('/bin/sh', ['-c', GUARD, directory, ...command], {
    ...as,
    cwd: directory,
    // Ctrl-C at a terminal is for the tests: they end the server in their own order.
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
