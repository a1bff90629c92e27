import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { answerOf } from '../child-answer.js';
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
  child.send(message);
  return (await answerOf(child)) as Answer;
}
