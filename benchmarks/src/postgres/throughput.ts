import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { migrationSql } from '@flags/postgres';
import { Client } from 'pg';
import { table } from '../markdown.js';
import { median } from '../rounds.js';
import { type Operation, SIDES, type Side, schemaOf, type Task } from './sides.js';

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

/**
 * Operations per second of one node and of several, and how many times that is what the driver alone does: as it is, and
 * where nodes do not follow each other.
 */
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
  const copy = schemaOf(schema, 'driver');
  await database.query(migrationSql({ schema: copy }));
  for (const name of ['documents', 'events']) {
    await database.query(`INSERT INTO ${copy}.flags_${name} SELECT * FROM ${schema}.flags_${name}`);
  }
}

/** The sides take turns, and take turns in who comes first. */
async function contest(children: readonly ChildProcess[], operation: Operation): Promise<string> {
  const rounds: Record<Side, number>[] = [];
  for (let chunk = 0; chunk <= CHUNKS; chunk++) {
    const first = chunk % SIDES.length;
    const rates: Partial<Record<Side, number>> = {};
    for (const side of [...SIDES.slice(first), ...SIDES.slice(0, first)]) {
      rates[side] = await rateOf(children, { side, operation, calls: CALLS[operation] });
    }
    rounds.push(rates as Record<Side, number>);
  }
  const measured = rounds.slice(1);
  const ratio = (side: Side) => median(measured.map((rates) => rates[side] / rates.driver)).toFixed(2);
  const rate = median(measured.map(({ engine }) => engine)).toLocaleString('en', { maximumSignificantDigits: 3 });
  return `${rate} (× ${ratio('engine')}, × ${ratio('unfollowing')})`;
}

async function rateOf(children: readonly ChildProcess[], task: Task): Promise<number> {
  const started = performance.now();
  const answers = children.map((child) => once(child, 'message'));
  for (const child of children) child.send(task);
  await Promise.all(answers);
  return ((task.calls * children.length) / (performance.now() - started)) * 1000;
}

/** All sides have been asked for the same: so many rows, revisions and characters there have to be. */
async function requireSameRows(database: Client, schema: string): Promise<void> {
  const written: string[] = [];
  for (const side of SIDES) written.push(await totals(database, schemaOf(schema, side)));
  const [first, ...others] = written;
  if (others.some((other) => other !== first)) throw new Error(`They have written ${[first, ...others].join(', ')}.`);
  console.error(`all have written ${first}`);
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
