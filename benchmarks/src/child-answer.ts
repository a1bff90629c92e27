import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Returns the next message of a child process; throws if the process ends before. */
export async function answerOf(child: ChildProcess): Promise<unknown> {
  const answered = new AbortController();
  const ended = once(child, 'exit', answered).then(() => {
    throw new Error('A process has ended early.');
  });
  try {
    const [answer] = (await Promise.race([once(child, 'message', answered), ended])) as [unknown];
    return answer;
  } finally {
    answered.abort();
  }
}
