import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bundle } from '../storage/sqlite/child-program.js';

/** Runs `children/<name>.ts`, bundled into the directory, until it ends. Returns its output. */
export async function runToItsEnd(name: string, directory: string): Promise<string> {
  const { file, env } = bundle(join(__dirname, 'children', `${name}.ts`), directory);
  const { stdout } = await promisify(execFile)(process.execPath, [file, join(directory, 'flags.db')], { env });
  return stdout;
}
