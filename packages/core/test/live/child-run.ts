import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildSync } from 'esbuild';

/** Runs `children/<name>.ts`, bundled into the directory, to its own end; gives what it printed. */
export async function runToItsEnd(name: string, directory: string): Promise<string> {
  const file = join(directory, `${name}.cjs`);
  buildSync({
    entryPoints: [join(__dirname, 'children', `${name}.ts`)],
    outfile: file,
    bundle: true,
    platform: 'node',
    external: ['better-sqlite3'],
  });
  // The bundle lies outside of the workspace, and would not find the driver there.
  const env = { ...process.env, NODE_PATH: join(__dirname, '../../node_modules') };
  const { stdout } = await promisify(execFile)(process.execPath, [file, join(directory, 'flags.db')], { env });
  return stdout;
}
