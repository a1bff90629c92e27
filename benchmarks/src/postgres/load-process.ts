import { createFlags, type Flags } from '@flags/core';
import { postgresStorage } from '@flags/postgres';

/** Milliseconds to work for, and what to do; the answer is how often it was done. */
export interface Task {
  readonly operation: Operation;
  readonly time: number;
}

export type Operation = 'create a flag' | 'switch a flag on or off' | 'read a flag' | 'report metrics';

/** So many operations are under way at once. */
const LINES = 8;
const OWN_FLAGS = 64;

type Work = (call: number) => Promise<unknown>;

/** A node: its own flags, so that nodes wait for the database and not for each other's changes. */
async function main(connectionString: string, node: string): Promise<void> {
  const flags = await createFlags({
    storage: postgresStorage({ connectionString, schema: 'throughput' }),
    usageInterval: 0,
  });
  await fill(flags, node);
  const works = worksOf(flags, node);
  process.on('message', async ({ operation, time }: Task) => {
    process.send?.(await repeat(works[operation], time));
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

function worksOf(flags: Flags, node: string): Record<Operation, Work> {
  return {
    'create a flag': (call) => flags.createFlag({ project: 'default' }, { name: `${node}-created-${call}` }),
    'switch a flag on or off': (call) =>
      (isOn(call) ? flags.enable : flags.disable)(placeOf(nameOf(node, call % OWN_FLAGS))),
    'read a flag': (call) => flags.getFlag(placeOf(nameOf(node, call % OWN_FLAGS))),
    'report metrics': () => flags.reportMetrics(reportOf(node)),
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
