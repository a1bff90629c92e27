import { setTimeout as pause } from 'node:timers/promises';
import type { EvaluationStatus } from '@flags/core';
import { extent } from '../../../../test/extent.js';
import { until } from '../../../../test/until.js';
import { ownServer } from '../own-database.js';
import { endProcess, nodeProgram, type ServiceNode, startNode } from './node-process.js';

const NODES = extent({ short: 2, full: 4 });
const ROUNDS = extent({ short: 1, full: 50 });
/** Milliseconds. */
const SUSPENDED = extent({ short: 500, full: 60_000 });
const LISTENERS = "pid FROM pg_stat_activity WHERE datname = current_database() AND query ILIKE 'LISTEN%'";
const CHECKOUT = { project: 'default', flag: 'checkout', environment: 'production' };

const database = ownServer();
const program = nodeProgram('asked-node');
let nodes: readonly ServiceNode[] = [];

/** Nodes on one schema, and a flag that is off. */
async function start(options: { schema: string; pollInterval: number; listen?: boolean }): Promise<void> {
  const given = JSON.stringify({ connectionString: database.url(), ...options });
  nodes = await Promise.all(Array.from({ length: NODES }, () => startNode(program, given)));
  await nodeAt(0).call('createFlag', { project: 'default' }, { name: 'checkout' });
  await nodeAt(0).call('addStrategy', CHECKOUT, { name: 'default' });
}

function nodeAt(at: number): ServiceNode {
  const node = nodes[at % NODES];
  if (!node) throw new Error('There is no node.');
  return node;
}

async function evaluated(): Promise<readonly unknown[]> {
  return Promise.all(nodes.map((node) => node.call('isEnabled', 'checkout')));
}

/** Switches the flag on one node. Resolves when every node evaluates the change. */
async function switchAndConverge(at: number, on: boolean): Promise<void> {
  await nodeAt(at).call(on ? 'enable' : 'disable', CHECKOUT);
  await until(async () => (await evaluated()).every((value) => value === on));
}

/** Every node switches the flag once. */
async function convergeByTurns(): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    await switchAndConverge(2 * round, true);
    await switchAndConverge(2 * round + 1, false);
  }
}

async function states(): Promise<readonly string[]> {
  const found = await Promise.all(nodes.map((node) => node.call('status')));
  return found.map((status) => (status as EvaluationStatus).state);
}

/** Resolves when every node listens. */
async function allListen(): Promise<void> {
  await until(async () => (await database.ask(`SELECT ${LISTENERS}`)).length === NODES);
}

afterEach(async () => {
  await Promise.all(nodes.map((node) => endProcess(node.process)));
});
afterAll(program.remove);

describe(`${NODES} nodes on one database`, () => {
  it.each([
    ['by notifications only', { schema: 'told', pollInterval: 0 }],
    ['by polling only', { schema: 'polling', pollInterval: 50, listen: false }],
  ])('evaluate the changes of every node, %s', async (_name, options) => {
    await start(options);
    await convergeByTurns();
  });

  it('receive changes again after their listening connections were ended', async () => {
    // No node polls: each reads the missed events when its connection is restored.
    await start({ schema: 'ended', pollInterval: 0 });
    await switchAndConverge(0, true);
    for (let round = 0; round < ROUNDS; round++) {
      await allListen();
      await database.ask(`SELECT pg_terminate_backend(pid), ${LISTENERS}`);
      await switchAndConverge(round, round % 2 === 1);
    }
  });

  const restarted: readonly (readonly [string, Parameters<typeof start>[0]])[] = [
    ['by notifications only', { schema: 'restarted_told', pollInterval: 0 }],
    ['by polling', { schema: 'restarted', pollInterval: 100 }],
  ];
  it.each(extent({ short: restarted.slice(0, 1), full: restarted }))(
    'continue to evaluate, report a stale state, and converge after a restart of the database, %s',
    async (_, options) => {
      await start(options);
      await switchAndConverge(0, true);
      for (let round = 0; round < ROUNDS; round++) {
        await database.server().stop(round % 2 === 0 ? 'immediate' : 'fast');
        await until(async () => (await states()).every((state) => state === 'stale'));
        const on = round % 2 === 0;
        expect(await evaluated()).toEqual(Array(NODES).fill(on));
        await expect(nodeAt(round).call('disable', CHECKOUT)).rejects.toThrow('storage_unavailable');
        await database.server().start();
        await until(async () => (await states()).every((state) => state === 'current'));
        await switchAndConverge(round, !on);
      }
    },
  );

  it('are not delayed by one of them that is suspended, which catches up once it continues', async () => {
    await start({ schema: 'suspended', pollInterval: 1000 });
    await switchAndConverge(0, true);
    const [suspended, ...others] = nodes;
    suspended?.process.kill('SIGSTOP');
    const ends = performance.now() + SUSPENDED;
    for (let round = 0; performance.now() < ends; round++) {
      const on = round % 2 === 1;
      await others[round % others.length]?.call(on ? 'enable' : 'disable', CHECKOUT);
      await until(async () => {
        const found = await Promise.all(others.map((node) => node.call('isEnabled', 'checkout')));
        return found.every((value) => value === on);
      });
      await pause(10);
    }
    await nodeAt(1).call('disable', CHECKOUT);
    suspended?.process.kill('SIGCONT');
    await until(async () => (await evaluated()).every((value) => value === false));
  });
});
