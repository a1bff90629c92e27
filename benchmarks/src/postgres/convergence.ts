import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { openFlags } from '@flags/core';
import { postgresStorage } from '@flags/postgres';
import { Client } from 'pg';
import { table } from '../markdown.js';

const NODES = 4;
/** Milliseconds that a node is suspended. */
const SUSPENDED = 2_000;

interface Moment {
  readonly at: number;
  readonly begun?: number;
}

type Nodes = readonly ChildProcess[];

/** The disturbance before a change, which ends with it. */
type Disturbance = (nodes: Nodes, url: string) => Promise<unknown>;

const SCENARIOS: readonly (readonly [name: string, 'listen' | 'poll', rounds: number, Disturbance])[] = [
  ['with notifications', 'listen', 300, () => pause(Math.random() * 20)],
  ['after the listening connections ended', 'listen', 10, endListening],
  [`after a node was suspended for ${SUSPENDED / 1000} s, from when it continues`, 'listen', 4, suspend],
  ['with polling only, once a second', 'poll', 12, () => pause(Math.random() * 1_000)],
];

/** The time until every other node evaluates a change. */
export async function convergenceTable(url: string): Promise<string> {
  await createFlag(url);
  const rows: string[][] = [];
  for (const [name, mode, rounds, disturb] of SCENARIOS) {
    const nodes = await Promise.all(Array.from({ length: NODES }, () => startNode(url, mode)));
    // Until all of them listen.
    await pause(500);
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) {
      times.push(...(await timesOf(nodes, { on: round % 2 === 0, disturb: () => disturb(nodes, url) })));
    }
    if (rounds % 2 === 1) throw new Error('The flag has to end as it began.');
    for (const node of nodes) node.kill('SIGKILL');
    rows.push([name, ...[0.5, 0.95, 1].map((share) => quantile(times, share).toFixed(1))]);
    console.error(rows.at(-1)?.join('  '));
  }
  return table(['ms', 'median', '95 %', 'longest'], rows);
}

async function createFlag(url: string): Promise<void> {
  const flags = await openFlags({ storage: postgresStorage({ connectionString: url, schema: 'converging' }) });
  await flags.createFlag({ project: 'default' }, { name: 'checkout' });
  await flags.addStrategy({ project: 'default', flag: 'checkout', environment: 'production' }, { name: 'default' });
  await flags.close();
}

async function startNode(url: string, mode: string): Promise<ChildProcess> {
  const child = fork(new URL('converging-process.js', import.meta.url), [url, mode]);
  await once(child, 'message');
  return child;
}

/** Milliseconds of each other node, from the start of the change or the end of the disturbance. */
async function timesOf(
  [writer, ...readers]: Nodes,
  { on, disturb }: { readonly on: boolean; readonly disturb: () => Promise<unknown> },
): Promise<readonly number[]> {
  if (!writer) return [];
  const evaluated = readers.map(async (reader) => (await once(reader, 'message'))[0] as Moment);
  const acknowledged = messageWith(writer, 'acknowledged');
  const resumed = await disturb();
  writer.send(on);
  const { begun = 0 } = await acknowledged;
  const from = typeof resumed === 'function' ? Number(resumed()) : begun;
  const moments = await Promise.all(evaluated);
  return typeof resumed === 'function' ? [(moments.at(-1)?.at ?? 0) - from] : moments.map(({ at }) => at - from);
}

/** The writer also reports its own evaluation. */
async function messageWith(child: ChildProcess, key: string): Promise<Moment> {
  for (;;) {
    const [message] = await once(child, 'message');
    if (key in message) return message;
  }
}

async function endListening(_nodes: Nodes, url: string): Promise<void> {
  const client = new Client(url);
  await client.connect();
  await client.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query ILIKE 'LISTEN%'");
  await client.end();
}

/** Returns a function that resumes the last node, once the change is made. */
async function suspend(nodes: Nodes): Promise<() => number> {
  const last = nodes.at(-1);
  last?.kill('SIGSTOP');
  await pause(SUSPENDED);
  return () => {
    const at = performance.timeOrigin + performance.now();
    last?.kill('SIGCONT');
    return at;
  };
}

function quantile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
