import { createFlags, type Flags } from '@flags/core';
import { postgresStorage } from '@flags/postgres';
import { Pool } from 'pg';
import { type Recording, recordingPool, replay } from './replay.js';

/** Milliseconds to work for, and what to do; the answer is how often it was done. */
export interface Task {
  readonly operation: Operation;
  readonly side: 'core' | 'bare';
  readonly time: number;
}

export type Operation = 'create a flag' | 'switch a flag on or off' | 'report metrics';

/** So many operations are under way at once. */
const LINES = 8;
const OWN_FLAGS = 64;

type Work = (call: number) => Promise<unknown>;

/** A node: its own flags, so that nodes wait for the database and not for each other's changes. */
async function main(connectionString: string, node: string): Promise<void> {
  const flags = await createFlags({ storage: postgresStorage({ connectionString, schema: 'core' }), usageInterval: 0 });
  await fill(flags, node);
  const works = { core: coreWorks(flags, node), bare: await bareWorks(connectionString, node) };
  process.on('message', async ({ operation, side, time }: Task) => {
    process.send?.(await repeat(works[side][operation], time));
  });
  process.on('disconnect', () => process.exit());
  process.send?.('ready');
}

async function fill(flags: Flags, node: string): Promise<void> {
  await Promise.all(
    Array.from({ length: OWN_FLAGS }, async (_, at) => {
      await flags.createFlag({ project: 'default' }, { name: nameOf(node, at) });
      await flags.addStrategy(placeOf(nameOf(node, at)), { name: 'default' });
    }),
  );
}

let calls = 0;

async function repeat(work: Work, time: number): Promise<number> {
  const ends = performance.now() + time;
  let done = 0;
  const line = async () => {
    while (performance.now() < ends) {
      await work(calls++);
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: LINES }, line));
  return done;
}

function coreWorks(flags: Flags, node: string): Record<Operation, Work> {
  return {
    'create a flag': (call) => flags.createFlag({ project: 'default' }, { name: `${node}-core-${call}` }),
    'switch a flag on or off': (call) =>
      (isOn(call) ? flags.enable : flags.disable)(placeOf(nameOf(node, call % OWN_FLAGS))),
    'report metrics': () => flags.reportMetrics(reportOf(node)),
  };
}

/** The driver alone sends what the engine was seen to send, to tables of its own. */
async function bareWorks(connectionString: string, node: string): Promise<Record<Operation, Work>> {
  const { pool: recorded, record } = recordingPool(connectionString);
  const storage = postgresStorage({ pool: recorded, schema: 'bare', listen: false });
  const flags = await createFlags({ storage, pollInterval: 0, usageInterval: 0 });
  await fill(flags, node);
  const name = `${node}-template`;
  const place = placeOf(name);
  const create = await record(() => flags.createFlag(place, { name }));
  await flags.addStrategy(place, { name: 'default' });
  const enable = await record(() => flags.enable(place));
  const disable = await record(() => flags.disable(place));
  await flags.reportMetrics(reportOf(node));
  const report = await record(() => flags.reportMetrics(reportOf(node)));
  await flags.close();
  await recorded.end();
  const pool = new Pool({ connectionString });
  const again = (recording: Recording, now: string, revision = Number.NaN) =>
    replay(recording, { pool, name: [name, now], revision });
  return {
    'create a flag': (call) => again(create, `${node}-bare-${call}`),
    'switch a flag on or off': (call) =>
      isOn(call) ? again(enable, nameOf(node, call % OWN_FLAGS), 2) : again(disable, nameOf(node, call % OWN_FLAGS), 3),
    'report metrics': () => again(report, name),
  };
}

/** Each flag is switched the other way whenever its turn comes. */
function isOn(call: number): boolean {
  return Math.floor(call / OWN_FLAGS) % 2 === 0;
}

function nameOf(node: string, at: number): string {
  return `${node}-flag-${at}`;
}

function placeOf(flag: string) {
  return { project: 'default', flag, environment: 'production' };
}

function reportOf(node: string) {
  const now = new Date().toISOString();
  const flags = Array.from({ length: 10 }, (_, at) => [nameOf(node, at), { yes: 3, no: 1, variants: {} }]);
  return {
    appName: 'shop',
    instanceId: node,
    bucket: { start: now, stop: now, toggles: Object.fromEntries(flags) },
  };
}

const [, , url = '', node = ''] = process.argv;
await main(url, node);
