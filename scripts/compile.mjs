// Compiles the workspace with tsc -b, and says which project it compiles.
//
//   node scripts/compile.mjs                everything, the types of the tests included
//   node scripts/compile.mjs benchmarks     a project, with those that it refers to
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { runWithProgress } from './progress.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const tsc = join(ROOT, 'node_modules/.bin/tsc');
const pretty = process.stdout.isTTY ? ['--pretty'] : [];
const command = [tsc, '-b', '--verbose', ...pretty, ...process.argv.slice(2)];
const title = 'Checking the types and compiling, about a minute the first time';
process.exitCode = await runWithProgress(title, command, { cwd: ROOT, activity: 'tsc -b', onLine: readLine });

/** Prints errors. Returns what the compiler does: its other lines begin with the time, or name a project. */
function readLine(line) {
  const text = stripVTControlCharacters(line);
  const [, project] = /^\[.*Building project '(.*)'/.exec(text) ?? [];
  if (project !== undefined) return `tsc -b, ${relative(ROOT, project)}`;
  if (text !== '' && !/^(\[\d|\s+\* )/.test(text)) console.log(line);
  return undefined;
}
