import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { machine } from './machine.js';

/** They need only the installed packages, and little time. */
const DEFAULTS = ['growth', 'evaluation'];

const folder = new URL('../', import.meta.url);

/** Runs the named benchmarks, or the default ones, and writes their output to `results/<name>.md`. */
async function main(): Promise<void> {
  const { scripts } = JSON.parse(await readFile(new URL('package.json', folder), 'utf8')) as { scripts: object };
  const named = process.argv.slice(2);
  const unknown = named.filter((name) => !Object.hasOwn(scripts, name));
  if (unknown.length > 0) {
    throw new Error(`No benchmark ${unknown.join(', ')}. There are ${Object.keys(scripts).join(', ')}.`);
  }
  for (const name of named.length > 0 ? named : DEFAULTS) {
    console.error(`== ${name}`);
    const begun = `${new Date().toISOString().slice(0, 10)}: ${machine()}`;
    const result = new URL(`results/${name}.md`, folder);
    await writeFile(result, `${(await run(name)).trim()}\n\n_${begun}_\n`);
  }
}

/** The output of the program; its progress goes to the terminal. */
async function run(name: string): Promise<string> {
  const child = spawn('npm', ['run', '--silent', name], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  const code = await new Promise((resolve, reject) => child.on('close', resolve).on('error', reject));
  if (code !== 0) throw new Error(`The benchmark ${name} has failed.`);
  return printed;
}

await main();
