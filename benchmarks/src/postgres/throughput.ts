import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { migrationSql } from '@flags/postgres';
import { Client } from 'pg';
import { table } from '../markdown.js';
import { median } from '../rounds.js';
import type { Operation, Side, Task } from './load-process.js';

const NODES = [1, 2, 4];
/** Of each side, after one that warms up. */
const CHUNKS = 25;
/** Calls of each node in a chunk. */
const CALLS: Record<Operation, number> = {
  'create a flag': 64,
  'switch a flag on or off': 64,
  'read a flag': 256,
  'report metrics': 256,
};
const OPERATIONS = Object.keys(CALLS) as Operation[];

/** Operations per second of one node and of several, and how many times that is what the driver alone does. */
export async function throughputTable(url: string): Promise<string> {
  const columns: string[][] = [];
  for (const nodes of NODES) columns.push(await columnOf(url, nodes));
  const rows = OPERATIONS.map((operation, at) => [operation, ...columns.map((column) => column[at] ?? '')]);
  return table(['', ...NODES.map((nodes) => (nodes === 1 ? '1 node' : `${nodes} nodes`))], rows);
}

async function columnOf(url: string, nodes: number): Promise<string[]> {
  const schema = `throughput_${nodes}`;
  const database = new Client(url);
  await database.connect();
  const children = await Promise.all(Array.from({ length: nodes }, (_, at) => startLoad(url, schema, `node-${at}`)));
  await copyTables(database, schema);
  const column: string[] = [];
  for (const operation of OPERATIONS) column.push(await contest(children, operation));
  for (const child of children) child.kill('SIGKILL');
  await requireSameRows(database, schema);
  await database.end();
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

/** The driver's tables: the same, with the same rows. */
async function copyTables(database: Client, schema: string): Promise<void> {
  await database.query(migrationSql({ schema: `${schema}_driver` }));
  for (const name of ['documents', 'events']) {
    await database.query(`INSERT INTO ${schema}_driver.flags_${name} SELECT * FROM ${schema}.flags_${name}`);
  }
}

/** The sides take turns, and take turns in who comes first. */
async function contest(children: readonly ChildProcess[], operation: Operation): Promise<string> {
  const rates: Record<Side, number[]> = { engine: [], driver: [] };
  for (let chunk = 0; chunk <= CHUNKS; chunk++) {
    const sides: readonly Side[] = chunk % 2 === 0 ? ['engine', 'driver'] : ['driver', 'engine'];
    for (const side of sides) rates[side].push(await rateOf(children, { side, operation, calls: CALLS[operation] }));
  }
  const engine = rates.engine.slice(1);
  const ratio = median(engine.map((rate, chunk) => rate / (rates.driver[chunk + 1] ?? Number.NaN)));
  return `${median(engine).toLocaleString('en', { maximumSignificantDigits: 3 })} (× ${ratio.toFixed(2)})`;
}

async function rateOf(children: readonly ChildProcess[], task: Task): Promise<number> {
  const started = performance.now();
  const answers = children.map((child) => once(child, 'message'));
  for (const child of children) child.send(task);
  await Promise.all(answers);
  return ((task.calls * children.length) / (performance.now() - started)) * 1000;
}

/** Both sides have been asked for the same: so many rows, revisions and characters there have to be. */
async function requireSameRows(database: Client, schema: string): Promise<void> {
  const [engine, driver] = await Promise.all([schema, `${schema}_driver`].map((side) => totals(database, side)));
  if (engine !== driver) throw new Error(`The engine has written ${engine}, the driver ${driver}.`);
  console.error(`both have written ${engine}`);
}

async function totals(database: Client, schema: string): Promise<string> {
  const { rows } = await database.query(`SELECT
    (SELECT json_build_array(count(*), sum(revision), sum(length(body)), sum(length(summary)), sum(length(parent)))
      FROM ${schema}.flags_documents) AS documents,
    (SELECT json_build_array(count(*), sum(revision), sum(length(data)), sum(length(before)), sum(length(actor)))
      FROM ${schema}.flags_events) AS events,
    (SELECT json_build_array(count(DISTINCT flag), sum(count)) FROM ${schema}.flags_usage) AS usage,
    (SELECT json_build_array(sum(yes), sum(no)) FROM ${schema}.flags_counters) AS counters,
    (SELECT count(DISTINCT flag) FROM ${schema}.flags_last_seen) AS seen`);
  return JSON.stringify(rows[0]);
}
