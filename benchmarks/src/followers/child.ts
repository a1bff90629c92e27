import { type ChildProcess, fork } from 'node:child_process';
import { setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { answerOf } from '../child-answer.js';

/** A process that answers questions, one after the other. */
export interface Child {
  /** Sends a question, and returns the answer. */
  ask<T>(question: string, input?: unknown): Promise<T>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** Lets it end its work. */
  end(): Promise<void>;
}

export interface ChildOptions {
  /** A file beside this one. */
  readonly program: string;
  readonly settings: object;
  readonly execArgv?: readonly string[];
  /** Whether the process stands for another machine, and waits for processors that the root needs. */
  readonly isRemote?: boolean;
}

/** Starts a process. Resolves when it says that it is ready. */
export async function startChild({ program, settings, execArgv = [], isRemote = false }: ChildOptions): Promise<Child> {
  const file = fileURLToPath(new URL(program, import.meta.url));
  const child = fork(file, [JSON.stringify(settings)], { execArgv: [...execArgv] });
  if (isRemote && child.pid !== undefined) setPriority(child.pid, 19);
  // A question to a process that has just been killed: the exit rejects it.
  child.on('error', () => undefined);
  await answerOf(child);
  let latest: Promise<unknown> = Promise.resolve();
  return {
    ask<T>(question: string, input?: unknown) {
      const answer = latest.then(() => {
        if (!isRunning(child)) throw new Error('The process has ended.');
        child.send({ question, input });
        return answerOf(child);
      });
      latest = answer.catch(() => undefined);
      return answer as Promise<T>;
    },
    async kill() {
      if (!isRunning(child)) return;
      const ended = exitOf(child);
      child.kill('SIGKILL');
      await ended;
    },
    async end() {
      if (!isRunning(child)) return;
      const ended = exitOf(child);
      child.disconnect();
      await ended;
    },
  };
}

/** Resolves when the process has ended. `once` would also reject when a question to the process cannot be sent. */
function exitOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => child.once('exit', () => resolve()));
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

type Answers = Readonly<Record<string, (input: never) => unknown>>;

/** The settings of this process. */
export function settingsOfProcess<T>(): T {
  return JSON.parse(process.argv[2] ?? '{}') as T;
}

/** Answers the questions of the starter, and exits after `end` when the starter disconnects or ends. */
export function answerQuestions(answers: Answers, end: () => Promise<void>): void {
  process.on('message', ({ question, input }: { readonly question: string; readonly input: never }) => {
    void Promise.resolve(answers[question]?.(input)).then((answer) => process.send?.(answer ?? null));
  });
  process.on('disconnect', () => void end().finally(() => process.exit()));
  process.send?.('ready');
}

/** Nanoseconds of the monotonic clock, which all processes of the machine share. */
export function monotonic(): number {
  return Number(process.hrtime.bigint());
}
