import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Flags } from '@flags/core';
import { buildSync } from 'esbuild';

/** A program of `children/`, on the sources. */
export interface NodeProgram {
  start(...input: readonly string[]): ChildProcess;
  remove(): void;
}

/** Bundles `children/<name>.ts` with `pg`: an import finds no package beside a file in a temporary folder. */
export function nodeProgram(name: string): NodeProgram {
  const source = join(__dirname, 'children', `${name}.ts`);
  const directory = mkdtempSync(join(tmpdir(), 'flags-node-'));
  const outfile = join(directory, basename(source).replace(/ts$/, 'cjs'));
  buildSync({
    entryPoints: [source],
    outfile,
    bundle: true,
    platform: 'node',
    external: ['pg-native', 'better-sqlite3'],
    alias: {
      '@flags/core/integration': join(__dirname, '../../../core/src/integration'),
      '@flags/core': join(__dirname, '../../../core/src/index.ts'),
    },
  });
  const env = { ...process.env, NODE_PATH: join(__dirname, '../../node_modules') };
  return {
    start: (...input) => fork(outfile, input, { env, execArgv: [] }),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** A node of a service: a process with the engine embedded that runs the calls it receives. */
export interface ServiceNode {
  readonly process: ChildProcess;
  /** Calls a method of its `Flags`. Fails with the error's code as the message. */
  call(method: keyof Flags, ...input: readonly unknown[]): Promise<unknown>;
}

interface Answer {
  readonly id: number;
  readonly value?: unknown;
  readonly code?: string;
}

/** Resolves once the node is ready. */
export async function startNode(program: NodeProgram, ...input: readonly string[]): Promise<ServiceNode> {
  const child = program.start(...input);
  const waiting = new Map<number, (answer: Answer) => void>();
  let asked = 0;
  await once(child, 'message');
  child.on('message', (answer: Answer) => waiting.get(answer.id)?.(answer));
  return {
    process: child,
    async call(method, ...given) {
      const id = ++asked;
      const answered = new Promise<Answer>((resolve) => waiting.set(id, resolve));
      child.send({ id, method, input: given });
      const { value, code } = await answered;
      waiting.delete(id);
      if (code !== undefined) throw new Error(code);
      return value;
    },
  };
}

/** Kills a process, unless it has ended. */
export async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
