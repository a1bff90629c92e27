import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { table } from '../markdown.js';
import { median } from '../rounds.js';
import type { Operation, Task } from './load-process.js';

const NODES = [1, 2, 4];
const ROUNDS = 3;
/** Milliseconds. */
const TIME = 800;
const OPERATIONS: readonly Operation[] = ['create a flag', 'switch a flag on or off', 'report metrics'];

interface Rates {
  readonly core: number;
  readonly bare: number;
  readonly beside: number;
}

/** Operations per second of one node and of several, beside the driver alone. */
export async function throughputTable(url: string): Promise<string> {
  const columns: string[][] = [];
  for (const nodes of NODES) {
    const children = await Promise.all(Array.from({ length: nodes }, (_, at) => startLoad(url, `${nodes}-${at}`)));
    const column: string[] = [];
    for (const operation of OPERATIONS) column.push(shown(await compare(children, operation)));
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

/** The sides take turns, so that what disturbs the machine disturbs both. The first round only warms up. */
async function compare(children: readonly ChildProcess[], operation: Operation): Promise<Rates> {
  const rounds: { core: number; bare: number }[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const core = await rateOf(children, { operation, side: 'core', time: TIME });
    const bare = await rateOf(children, { operation, side: 'bare', time: TIME });
    if (round > 0) rounds.push({ core, bare });
  }
  return {
    core: median(rounds.map(({ core }) => core)),
    bare: median(rounds.map(({ bare }) => bare)),
    beside: median(rounds.map(({ core, bare }) => core / bare)),
  };
}

async function rateOf(children: readonly ChildProcess[], task: Task): Promise<number> {
  const started = performance.now();
  const answers = children.map((child) => once(child, 'message'));
  for (const child of children) child.send(task);
  const counts = (await Promise.all(answers)).map(([count]) => Number(count));
  return (counts.reduce((sum, count) => sum + count, 0) / (performance.now() - started)) * 1000;
}

function shown({ core, bare, beside }: Rates): string {
  const [one, other] = [core, bare].map((rate) => Math.round(rate).toLocaleString('en'));
  return `${one} / ${other} = ${beside.toFixed(2)}`;
}
