// Installs what is missing (setup.mjs), and compiles the workspace with tsc -b, beside the driver of SQLite if that is compiled,
// too. Says which project it compiles.
//
//   node scripts/compile.mjs                everything, the types of the tests included
//   node scripts/compile.mjs benchmarks     a project, with those that it refers to
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { runWithProgress } from './progress.mjs';
import { setUp } from './setup.mjs';

const { driver } = await setUp('all');

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
const pretty = process.stdout.isTTY ? ['--pretty'] : [];
const command = [process.execPath, tsc, '-b', '--verbose', ...pretty, ...process.argv.slice(2)];
const title = 'Checking the types and compiling, about a minute the first time';
process.exitCode = await runWithProgress(title, command, { cwd: ROOT, activity: 'tsc -b', onLine: readLine });
await driver;

/** Prints errors. Returns what the compiler does: its other lines begin with the time, or name a project. */
function readLine(line) {
  const text = stripVTControlCharacters(line);
  const [, project] = /^\[?\d.* Building project '(.*)'/.exec(text) ?? [];
  if (project !== undefined) return `tsc -b, ${relative(ROOT, project)}`;
  if (text !== '' && !/^(\[?\d+:\d|\s+\* )/.test(text)) console.log(line);
  return undefined;
}
