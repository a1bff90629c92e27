import { openFlags } from '@flags/core';
import { postgresStorage } from '@flags/postgres';
import { placeAt } from '../population.js';
import { type Operation, OWN_FLAGS, type Task } from './throughput.js';

/** Operations in progress at once. */
const LINES = 8;

/** A node that runs the commands of the benchmark. */
async function main(connectionString: string, schema: string, node: number): Promise<void> {
  const flags = await openFlags({ storage: postgresStorage({ connectionString, schema }), usage: { interval: 0 } });
  const placeOf = (call: number) => placeAt(node * OWN_FLAGS + (call % OWN_FLAGS));
  const reported = Array.from({ length: 10 }, (_, at) => [placeOf(at).flag, { yes: 3, no: 1 }] as const);
  const works: Record<Operation, (call: number) => Promise<unknown>> = {
    'create a flag': (call) => flags.createFlag({ project: 'default' }, { name: `created-${node}-${call}` }),
    'switch a flag on or off': (call) =>
      isSwitchedOn(call) ? flags.enable(placeOf(call)) : flags.disable(placeOf(call)),
    'read a flag': (call) => flags.getFlag(placeOf(call)),
    'report metrics': () => {
      const now = new Date().toISOString();
      const counts = Object.fromEntries(reported);
      return flags.reportMetrics({ application: 'shop', instance: `${node}`, start: now, stop: now, counts });
    },
  };
  const called = new Map<Operation, number>();
  process.on('message', async ({ operation, calls }: Task) => {
    let next = called.get(operation) ?? 0;
    const end = next + calls;
    called.set(operation, end);
    const line = async () => {
      while (next < end) await works[operation](next++);
    };
    await Promise.all(Array.from({ length: LINES }, line));
    process.send?.('done');
  });
  process.on('disconnect', () => process.exit());
  process.send?.('ready');
}

/** Each flag is switched the other way whenever its turn comes. All are on at first. */
function isSwitchedOn(call: number): boolean {
  return Math.floor(call / OWN_FLAGS) % 2 === 1;
}

const [, , url = '', schema = '', node = ''] = process.argv;
await main(url, schema, Number(node));
