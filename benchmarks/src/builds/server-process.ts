import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { answerOf } from '../child-answer.js';

/** A server in a separate process. */
export interface ServerProcess<Details = object> {
  readonly origin: string;
  readonly details: Details;
  /** The used processor time in microseconds. */
  processorTime(): Promise<number>;
  stop(): Promise<void>;
}

/** @param program a file beside this one */
export async function startServer<Details = object>(
  program: string,
  configuration: object,
): Promise<ServerProcess<Details>> {
  const child = fork(fileURLToPath(new URL(program, import.meta.url)), { execArgv: process.execArgv });
  child.send(configuration);
  const details = (await answerOf(child)) as Details & { readonly origin: string };
  return {
    origin: details.origin,
    details,
    async processorTime() {
      child.send('processor time');
      return (await answerOf(child)) as number;
    },
    async stop() {
      child.disconnect();
      await once(child, 'exit');
    },
  };
}
