import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { machine } from './machine.js';
import { reportWith } from './report.js';

/** In the order of the report. */
const BENCHMARKS = ['http', 'storage', 'growth', 'evaluation', 'page', 'budgets', 'postgres', 'unleash-server'];
/** They need what npm does not install, or take long. */
const ON_REQUEST = ['page', 'budgets', 'postgres', 'unleash-server'];

const folder = new URL('../', import.meta.url);
const report = new URL('../../docs/benchmarks.md', import.meta.url);

/** Runs the named benchmarks, or all that need nothing else, and puts what they print into the report. */
async function main(): Promise<void> {
  const available = await scripts();
  const named = process.argv.slice(2);
  const unknown = named.filter((name) => !available.has(name));
  if (unknown.length > 0)
    throw new Error(`No benchmark ${unknown.join(', ')}. There are ${[...available].join(', ')}.`);
  const chosen = BENCHMARKS.filter((name) =>
    named.length > 0 ? named.includes(name) : available.has(name) && !ON_REQUEST.includes(name),
  );
  for (const name of chosen) {
    console.error(`== ${name}`);
    const begun = `${new Date().toISOString().slice(0, 10)}: ${machine()}`;
    const section = `${(await run(name)).trim()}\n\n_${begun}_`;
    const before = await readFile(report, 'utf8').catch(() => '');
    await writeFile(report, reportWith(before, { name, section, order: BENCHMARKS }));
  }
}

async function scripts(): Promise<ReadonlySet<string>> {
  const { scripts } = JSON.parse(await readFile(new URL('package.json', folder), 'utf8')) as { scripts: object };
  return new Set(Object.keys(scripts));
}

/** What the program prints; its progress goes to the terminal. */
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
