import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { buildSync } from 'esbuild';

/** Bundles `children/<name>.ts` into a directory, and gives a way to start it with the path of a database. */
export function childProgram(name: string, directory: string): (database: string) => ChildProcess {
  const file = join(directory, `${name}.cjs`);
  buildSync({
    entryPoints: [join(__dirname, 'children', `${name}.ts`)],
    outfile: file,
    bundle: true,
    platform: 'node',
    external: ['better-sqlite3'],
  });
  // The bundle lies outside of the workspace, and would not find the driver there.
  const env = { ...process.env, NODE_PATH: join(__dirname, '../../../node_modules') };
  return (database) => fork(file, [database], { env, execArgv: [] });
}

/** The next message of a child, or a failure when it ends without one. */
export async function nextMessage(child: ChildProcess): Promise<unknown> {
  const stop = new AbortController();
  const ended = once(child, 'exit', { signal: stop.signal }).then(([code]) => {
    throw new Error(`The child ended with ${String(code)} and said nothing.`);
  });
  try {
    const [message] = await Promise.race([once(child, 'message', { signal: stop.signal }), ended]);
    return message;
  } finally {
    stop.abort();
    ended.catch(() => undefined);
  }
}
