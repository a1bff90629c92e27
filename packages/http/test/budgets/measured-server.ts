import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setPriority, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { buildSync } from 'esbuild';
import { type Answer, PATIENCE, type Sent, send } from './manners.js';
import type { Figures } from './probe.js';
import type { Configuration, Instruction } from './served.js';

/** In megabytes. */
const HEAP = 192;
/** A server in a process with a small heap, which measures itself. */
export interface MeasuredServer {
  /** On 127.0.0.1. */
  readonly port: number;
  /** Undefined when the process has ended. */
  measure(asking: () => Promise<void>): Promise<Figures | undefined>;
  ask(sent: Sent): Promise<Answer>;
  advance(milliseconds: number): Promise<void>;
  isAlive(): boolean;
  stop(): Promise<void>;
}

export interface ServerProgram {
  start(configuration: Configuration): Promise<MeasuredServer>;
  remove(): void;
}

/** Filling a database with the full store takes minutes. */
const LONGEST_START = 600_000;

/**
 * Bundles a program that calls `serve`, on the sources.
 *
 * @param packages the folder `packages` of the workspace
 */
export function serverProgram(packages: string, source: string): ServerProgram {
  const directory = mkdtempSync(join(tmpdir(), 'flags-budgets-'));
  const outfile = join(directory, basename(source).replace(/ts$/, 'cjs'));
  buildSync({
    entryPoints: [source],
    outfile,
    bundle: true,
    platform: 'node',
    external: ['better-sqlite3', 'pg-native'],
    alias: {
      '@flags/core/integration': join(packages, 'core/src/integration'),
      '@flags/core': join(packages, 'core/src/index.ts'),
      '@flags/http': join(packages, 'http/src/index.ts'),
      '@flags/core/sqlite': join(packages, 'core/src/sqlite.ts'),
    },
  });
  // One character beyond Latin-1, in a comment, would double the memory of the whole bundle. Modules of their own have less.
  writeFileSync(outfile, readFileSync(outfile, 'utf8').replaceAll(/[^\0-\x7f]/g, '?'));
  const folders = ['..', 'express', 'http', 'postgres'];
  const modules = folders.map((name) => join(packages, name, 'node_modules'));
  const env = { ...process.env, NODE_PATH: modules.join(':') };
  return {
    async start(configuration) {
      const child = fork(outfile, { env, execArgv: [`--max-old-space-size=${HEAP}`] });
      prefer(child);
      child.send(configuration);
      const ready = await nextMessage<{ readonly port: number }>(child, LONGEST_START);
      if (!ready) throw new Error('The server has died before it was ready.');
      return measuredServer(child, ready.port);
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** Other processes of a busy machine would count as stalls. Only some users may raise a priority. */
function prefer({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, -15);
  } catch {
    // The measurement is noisier.
  }
}

function measuredServer(child: ChildProcess, port: number): MeasuredServer {
  const isAlive = () => child.exitCode === null && child.signalCode === null;
  const ended = isAlive() ? once(child, 'exit').catch(() => undefined) : Promise.resolve();
  /** It was silent, and ended because of that: it has not died by itself. */
  let isGivenUp = false;

  async function tell<T>(instruction: Instruction): Promise<T | undefined> {
    if (!isAlive() || !child.connected) return undefined;
    const answered = nextMessage<T>(child);
    child.send(instruction, () => undefined);
    return answered;
  }

  return {
    port,
    async measure(asking) {
      await tell('begin');
      await asking();
      return tell<Figures>('end');
    },
    async ask(sent) {
      const answer = await send(port, sent);
      if (answer.status === 'silent') {
        isGivenUp = true;
        child.kill('SIGKILL');
      }
      if (answer.status !== 'reset') return answer;
      // A process that has run out of memory takes a moment to end.
      await Promise.race([ended, pause(2000)]);
      return isAlive() ? answer : { ...answer, status: isGivenUp ? 'silent' : 'died' };
    },
    async advance(milliseconds) {
      await tell(milliseconds);
    },
    isAlive,
    async stop() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Undefined when the process ends without one. */
async function nextMessage<T>(child: ChildProcess, longest = 2 * PATIENCE): Promise<T | undefined> {
  const over = new AbortController();
  const timer = setTimeout(() => child.kill('SIGKILL'), longest);
  try {
    const ending = once(child, 'exit', { signal: over.signal }).then(() => undefined);
    ending.catch(() => undefined);
    const message = once(child, 'message', { signal: over.signal }).then(([one]) => one as T);
    message.catch(() => undefined);
    return await Promise.race([message, ending]);
  } finally {
    clearTimeout(timer);
    over.abort();
  }
}
