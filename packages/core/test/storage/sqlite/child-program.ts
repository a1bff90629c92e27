import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { buildSync } from 'esbuild';

/** A program that runs outside of the workspace, and the environment in which it finds the driver there. */
export interface Bundle {
  readonly file: string;
  readonly env: NodeJS.ProcessEnv;
}

const NODE_DRIVER = {
  'better-sqlite3': join(__dirname, 'node-driver.ts'),
  'better-sqlite3/package.json': join(__dirname, 'node-driver.ts'),
};

/** Bundles a source file into a directory, once. */
export function bundle(source: string, directory: string): Bundle {
  const file = join(directory, basename(source).replace(/ts$/, 'cjs'));
  const env = { ...process.env, NODE_PATH: join(__dirname, '../../../../../node_modules') };
  if (existsSync(file)) return { file, env };
  const driver = process.env.FLAGS_SQLITE === 'node' ? { alias: NODE_DRIVER } : { external: ['better-sqlite3'] };
  buildSync({
    entryPoints: [source],
    outfile: file,
    bundle: true,
    platform: 'node',
    supported: { 'dynamic-import': false },
    ...driver,
  });
  return { file, env };
}

/** Bundles `children/<name>.ts`, and returns a function that starts it with the path of a database. */
export function childProgram(name: string, directory: string): (database: string) => ChildProcess {
  return program(join(__dirname, 'children', `${name}.ts`), directory);
}

/** Bundles a source file, and returns a function that starts it with the path of a database. */
export function program(source: string, directory: string): (database: string) => ChildProcess {
  const { file, env } = bundle(source, directory);
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
