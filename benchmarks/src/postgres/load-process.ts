import { createFlags, type Flags } from '@flags/core';
import { postgresStorage } from '@flags/postgres';
import { openDriverFlags } from './driver-flags.js';
import { type Operation, type Side, schemaOf, type Task } from './sides.js';

/** So many operations are under way at once. */
const LINES = 8;
const OWN_FLAGS = 64;
const REPORTED = { appName: 'shop', yes: 3, no: 1 };

type Work = (call: number) => Promise<unknown>;
type Works = Record<Operation, Work>;

/** A node: its own flags, so that nodes wait for the database and not for each other's changes. */
async function main(connectionString: string, schema: string, node: string): Promise<void> {
  const flags = await createFlags({ storage: postgresStorage({ connectionString, schema }), usageInterval: 0 });
  const deaf = await postgresStorage({ connectionString, schema: schemaOf(schema, 'unfollowing'), listen: false });
  const unfollowing = await createFlags({
    storage: { ...deaf, watch: () => () => undefined },
    usageInterval: 0,
    pollInterval: 0,
  });
  await fill(flags, node);
  await fill(unfollowing, node);
  const sides: Record<Side, Works> = {
    engine: engineWorks(flags, node),
    unfollowing: engineWorks(unfollowing, node),
    driver: driverWorks(openDriverFlags(connectionString, schemaOf(schema, 'driver')), node),
  };
  process.on('message', async ({ side, operation, calls }: Task) => {
    await repeat(sides[side][operation], { first: takeCalls(`${side} ${operation}`, calls), calls });
    process.send?.('done');
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

const taken = new Map<string, number>();

/** Calls are numbered for each side and operation. */
function takeCalls(what: string, calls: number): number {
  const first = taken.get(what) ?? 0;
  taken.set(what, first + calls);
  return first;
}

async function repeat(work: Work, { first, calls }: { readonly first: number; readonly calls: number }): Promise<void> {
  let next = first;
  const line = async () => {
    while (next < first + calls) await work(next++);
  };
  await Promise.all(Array.from({ length: LINES }, line));
}

function engineWorks(flags: Flags, node: string): Works {
  return {
    'create a flag': (call) => flags.createFlag({ project: 'default' }, { name: `${node}-created-${call}` }),
    'switch a flag on or off': (call) =>
      (isOn(call) ? flags.enable : flags.disable)(placeOf(nameOf(node, call % OWN_FLAGS))),
    'read a flag': (call) => flags.getFlag(placeOf(nameOf(node, call % OWN_FLAGS))),
    'report metrics': () => flags.reportMetrics(reportOf(node)),
  };
}

function driverWorks(flags: ReturnType<typeof openDriverFlags>, node: string): Works {
  return {
    'create a flag': (call) => flags.create('default', `${node}-created-${call}`),
    'switch a flag on or off': (call) => flags.setEnabled(nameOf(node, call % OWN_FLAGS), isOn(call)),
    'read a flag': (call) => flags.get(nameOf(node, call % OWN_FLAGS)),
    'report metrics': () => flags.report({ ...REPORTED, instanceId: node, flags: reportedFlags(node) }),
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

function reportedFlags(node: string): readonly string[] {
  return Array.from({ length: 10 }, (_, at) => nameOf(node, at));
}

function reportOf(node: string) {
  const now = new Date().toISOString();
  const { appName, yes, no } = REPORTED;
  const toggles = Object.fromEntries(reportedFlags(node).map((flag) => [flag, { yes, no, variants: {} }]));
  return { appName, instanceId: node, bucket: { start: now, stop: now, toggles } };
}

const [, , url = '', schema = '', node = ''] = process.argv;
await main(url, schema, node);
