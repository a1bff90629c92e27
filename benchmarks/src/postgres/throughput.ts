import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { table } from '../markdown.js';
import { median } from '../rounds.js';
import type { Operation, Task } from './load-process.js';

const NODES = [1, 2, 4];
const ROUNDS = 3;
/** Milliseconds. */
const TIME = 800;
const OPERATIONS: readonly Operation[] = ['create a flag', 'switch a flag on or off', 'read a flag', 'report metrics'];

/** Operations per second of one node and of several. */
export async function throughputTable(url: string): Promise<string> {
  const columns: string[][] = [];
  for (const nodes of NODES) {
    const children = await Promise.all(Array.from({ length: nodes }, (_, at) => startLoad(url, `${nodes}-${at}`)));
    const column: string[] = [];
    for (const operation of OPERATIONS) column.push(shown(await medianRate(children, operation)));
    for (const child of children) child.kill('SIGKILL');
    console.error(`${nodes} nodes: ${column.join('  ')}`);
    columns.push(column);
  }
  const rows = OPERATIONS.map((operation, at) => [operation, ...columns.map((column) => column[at] ?? '')]);
  return table(['', ...NODES.map((nodes) => (nodes === 1 ? '1 node' : `${nodes} nodes`))], rows);
}

async function startLoad(url: string, node: string): Promise<ChildProcess> {
  const child = fork(new URL('load-process.js', import.meta.url), [url, node]);
  child.on('exit', (code) => {
    if (code !== null) throw new Error('A node has failed.');
  });
  await once(child, 'message');
  return child;
}

/** The first round only warms up. */
async function medianRate(children: readonly ChildProcess[], operation: Operation): Promise<number> {
  const rates: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) rates.push(await rateOf(children, { operation, time: TIME }));
  return median(rates.slice(1));
}

async function rateOf(children: readonly ChildProcess[], task: Task): Promise<number> {
  const started = performance.now();
  const answers = children.map((child) => once(child, 'message'));
  for (const child of children) child.send(task);
  const counts = (await Promise.all(answers)).map(([count]) => Number(count));
  return (counts.reduce((sum, count) => sum + count, 0) / (performance.now() - started)) * 1000;
}

function shown(rate: number): string {
  return rate.toLocaleString('en', { maximumSignificantDigits: 3 });
}
