import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { FlagsStorage } from '@flags/core';
import { extent } from '../../../../test/extent.js';
import { createRandom } from '../../../../test/seed.js';
import { until } from '../../../../test/until.js';
import { expectInvariants } from '../../../core/test/invariants/invariants.js';
import { postgresStorage } from '../../src/index.js';
import { ownServer } from '../own-database.js';
import { endProcess, nodeProgram } from './node-process.js';

const random = createRandom();

const NODES = 4;
const KILLS = extent({ short: 3, full: 60 });
/** The most acknowledged changes between two kills of the database. */
const MOST_CHANGES = 60;

interface Told {
  readonly outcome: string;
  readonly event?: string;
}

const database = ownServer();
const program = nodeProgram('life-writer');
let children: readonly ChildProcess[] = [];

afterAll(async () => {
  await Promise.all(children.map(endProcess));
  program.remove();
});

/** Ways to end the database. Each resolves when it accepts connections again. */
const DEATHS: readonly (() => Promise<void>)[] = [
  async () => {
    await database.server().stop('immediate');
    await database.server().start();
  },
  async () => {
    await database.server().stop('killed');
    await database.server().start();
  },
  // Kills one backend: the server ends all others and recovers.
  async () => {
    const [backend] = await database.ask(
      'SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND query ~ $1',
      ['COMMIT|INSERT'],
    );
    if (typeof backend?.pid === 'number') process.kill(backend.pid, 'SIGKILL');
    await until(() => succeeds(() => database.ask('SELECT 1')));
  },
];

async function succeeds(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch {
    return false;
  }
}

describe('four nodes that write while their database is killed', () => {
  const told: Told[] = [];

  it('lose no acknowledged change, apply no failed one, and continue without a restart', async () => {
    children = Array.from({ length: NODES }, () => program.start(database.url()));
    await Promise.all(children.map((child) => once(child, 'message')));
    for (const child of children) child.on('message', (message: Told) => told.push(message));
    for (let kill = 0; kill < KILLS; kill++) {
      const goal = acknowledged().length + 1 + Math.floor(random() * MOST_CHANGES);
      await until(() => acknowledged().length >= goal);
      await DEATHS[kill % DEATHS.length]?.();
    }
    await Promise.all(children.map(writesOn));
    await Promise.all(children.map(stop));
    const storage = await postgresStorage({ connectionString: database.url(), listen: false });
    await expectInvariants(storage);
    await expectAsTold(storage);
    await storage.close();
  });

  function acknowledged(): readonly string[] {
    return told.flatMap(({ outcome, event }) => (outcome === 'acknowledged' && event ? [event] : []));
  }

  /** Resolves when a node that ran throughout has made further changes. */
  async function writesOn(child: ChildProcess): Promise<void> {
    expect(child.exitCode).toBeNull();
    const own = () => acknowledged().filter((event) => event.startsWith(`${child.pid}-`)).length;
    const before = own();
    await until(() => own() > before);
  }

  async function expectAsTold(storage: FlagsStorage): Promise<void> {
    const { events } = await storage.events({ order: 'oldest-first', limit: 1_000_000 });
    const stored = events.map(({ subject, type }) => `${subject.id} ${type}`).filter((event) => /^\d+-/.test(event));
    expect(new Set(stored).size).toBe(stored.length);
    const unknown = told.flatMap(({ outcome, event }) => (outcome === 'outcome_unknown' && event ? [event] : []));
    const surprises = told.filter(({ outcome }) => !['acknowledged', 'failed', 'outcome_unknown'].includes(outcome));
    expect(surprises).toEqual([]);
    const known = stored.filter((event) => !unknown.includes(event));
    expect(known.toSorted()).toEqual(acknowledged().toSorted());
  }
});

/** Lets a node finish its changes, and ends it. */
async function stop(child: ChildProcess): Promise<void> {
  // Earlier messages are still in the channel, which closes after the last.
  const ends = Promise.all([once(child, 'exit'), once(child, 'disconnect')]);
  child.send('stop');
  await ends;
}
