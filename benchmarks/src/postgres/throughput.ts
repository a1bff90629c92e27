import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { openFlags } from '@flags/core';
import { postgresStorage } from '@flags/postgres';
import { table } from '../markdown.js';
import { median } from '../median.js';
import { populate } from '../population.js';

/** A command and its number of calls. The response follows when it is done. */
export interface Task {
  readonly operation: Operation;
  readonly calls: number;
}

export type Operation = 'create a flag' | 'switch a flag on or off' | 'read a flag' | 'report metrics';

/** The flags of each node. Nodes have separate flags, so that they wait for the database and not for each other. */
export const OWN_FLAGS = 64;
const NODES = [1, 2, 4];
/** The rounds after a warm-up round. */
const ROUNDS = 25;
/** Calls of each node in a round. */
const CALLS: Record<Operation, number> = {
  'create a flag': 64,
  'switch a flag on or off': 64,
  'read a flag': 256,
  'report metrics': 256,
};
const OPERATIONS = Object.keys(CALLS) as Operation[];

/** Operations per second of one node and of several. */
export async function throughputTable(url: string): Promise<string> {
  const columns: string[][] = [];
  for (const nodes of NODES) columns.push(await columnOf(url, nodes));
  const rows = OPERATIONS.map((operation, at) => [operation, ...columns.map((column) => column[at] ?? '')]);
  return table(['', ...NODES.map((nodes) => (nodes === 1 ? '1 node' : `${nodes} nodes`))], rows);
}

async function columnOf(url: string, nodes: number): Promise<string[]> {
  const schema = `throughput_${nodes}`;
  const flags = await openFlags({ storage: postgresStorage({ connectionString: url, schema }) });
  await populate(flags, { flags: nodes * OWN_FLAGS, projects: 1 });
  await flags.close();
  const children = await Promise.all(Array.from({ length: nodes }, (_, at) => startLoad(url, schema, `${at}`)));
  const column: string[] = [];
  for (const operation of OPERATIONS) {
    const rates: number[] = [];
    for (let round = 0; round <= ROUNDS; round++) {
      rates.push(await rateOf(children, { operation, calls: CALLS[operation] }));
    }
    column.push(median(rates.slice(1)).toLocaleString('en', { maximumSignificantDigits: 3 }));
  }
  for (const child of children) child.kill('SIGKILL');
  console.error(`${nodes} nodes: ${column.join('  ')}`);
  return column;
}

async function startLoad(...given: readonly string[]): Promise<ChildProcess> {
  const child = fork(new URL('load-process.js', import.meta.url), given);
  child.on('exit', (code) => {
    if (code !== null) throw new Error('A node has failed.');
  });
  await once(child, 'message');
  return child;
}

async function rateOf(children: readonly ChildProcess[], task: Task): Promise<number> {
  const started = performance.now();
  const answers = children.map((child) => once(child, 'message'));
  for (const child of children) child.send(task);
  await Promise.all(answers);
  return ((task.calls * children.length) / (performance.now() - started)) * 1000;
}
