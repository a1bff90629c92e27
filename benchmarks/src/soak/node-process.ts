import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { NodeSample, NodeSettings } from './soak-server.js';

/** One of the processes that share the file. */
export interface NodeProcess {
  readonly origin: string;
  sample(): Promise<NodeSample>;
  stop(): Promise<void>;
}

export async function startNode(settings: NodeSettings): Promise<NodeProcess> {
  const program = fileURLToPath(new URL('./soak-server.js', import.meta.url));
  const child = fork(program, { execArgv: ['--expose-gc'] });
  const { origin } = await ask<{ readonly origin: string }>(child, settings);
  return {
    origin,
    sample: () => ask<NodeSample>(child, 'sample'),
    async stop() {
      child.send('stop');
      await once(child, 'exit');
    },
  };
}

async function ask<Answer>(child: ChildProcess, message: NodeSettings | 'sample'): Promise<Answer> {
  const answered = new AbortController();
  child.send(message);
  const ended = once(child, 'exit', { signal: answered.signal }).then(
    () => Promise.reject(new Error('A process has ended under the load.')),
    () => undefined,
  );
  const answer = await Promise.race([once(child, 'message', { signal: answered.signal }), ended]);
  answered.abort();
  return answer?.[0] as Answer;
}
