import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { answerOf } from '../child-answer.js';
import type { NodeOptions } from './workload.js';

const PROGRAM = fileURLToPath(new URL('node-process.js', import.meta.url));

/** A process with the engine embedded. */
export interface Node {
  readonly name: string;
  isRunning(): boolean;
  kill(): Promise<void>;
  /** Ends its changes and reads. Resolves when the last one has an outcome. */
  stop(): Promise<void>;
  /** Lets it catch up, evaluate for a last time and exit. */
  end(): Promise<void>;
}

/** Milliseconds. A node that takes longer to end its work shows a call that never returns. */
const PATIENCE = 90_000;

export async function startNode(options: NodeOptions): Promise<Node> {
  const child = fork(PROGRAM, [JSON.stringify(options)], { execArgv: ['--no-warnings'] });
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  await answerOf(child);
  return {
    name: options.name,
    isRunning,
    async kill() {
      if (!isRunning()) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
    stop: () => ask(child, { message: 'stop', node: options.name }),
    async end() {
      await ask(child, { message: 'end', node: options.name });
      if (isRunning()) await once(child, 'exit');
    },
  };
}

async function ask(child: ChildProcess, { message, node }: { readonly message: string; readonly node: string }) {
  const timer = new AbortController();
  const late = once(AbortSignal.any([AbortSignal.timeout(PATIENCE), timer.signal]), 'abort').then(() => {
    if (!timer.signal.aborted) throw new Error(`${node} did not ${message} within ${PATIENCE / 1000} s.`);
  });
  child.send(message);
  await Promise.race([answerOf(child), late]);
  timer.abort();
}
