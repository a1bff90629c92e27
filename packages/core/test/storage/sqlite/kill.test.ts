import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { extent } from '../../../../../test/extent.js';
import { createRandom } from '../../../../../test/seed.js';
import {
  type Change,
  type ChangeSet,
  FlagsError,
  type FlagsStorage,
  memoryStorage,
  openFlags,
} from '../../../src/index.js';
import { sqliteStorage } from '../../../src/sqlite.js';
import { expectInvariants } from '../../invariants/invariants.js';
import { DEFAULT, PRODUCTION } from '../../references.js';
import { refusalOf } from '../../refusal.js';
import { temporaryDirectory } from '../temporary-directory.js';
import { childProgram, nextMessage, program } from './child-program.js';
import { kill } from './killing.js';

const random = createRandom();

describe('processes on one file that are killed while they write', () => {
  const KILLS = extent({ short: 5, full: 100 });
  const PROCESSES = 3;
  /** A process is killed when this many changes have been acknowledged since the last kill, at most. */
  const MOST_CHANGES = 150;

  const directory = temporaryDirectory();
  const path = join(directory.path, 'flags.db');
  let children: ChildProcess[];
  let acknowledged: string[];
  let reports: number;
  let changed: () => void;

  beforeAll(() => {
    children = [];
    acknowledged = [];
    reports = 0;
    changed = () => undefined;
  });

  afterAll(async () => {
    await Promise.all(children.map(kill));
    directory.remove();
  });

  it('lose no acknowledged change, break no rule, and leave no lock for the surviving processes', async () => {
    const start = program(join(__dirname, 'children/engine-writer.ts'), directory.path);
    children = Array.from({ length: PROCESSES }, () => listenTo(start(path)));
    for (let count = 0; count < KILLS; count++) {
      await moreChanges(1 + Math.floor(random() * MOST_CHANGES));
      const [killed] = children.splice(Math.floor(random() * PROCESSES), 1);
      if (killed) await kill(killed);
      expect(integrity()).toBe('ok');
      children.push(listenTo(start(path)));
    }
    await Promise.all(children.splice(0).map(kill));
    expect(integrity()).toBe('ok');
    const storage = await sqliteStorage(path);
    await expectInvariants(storage);
    await expectAcknowledged(storage);
  });

  /** Receives the reports of a process. */
  function listenTo(child: ChildProcess): ChildProcess {
    return child.on('message', (message: string) => {
      if (message === 'report') reports += 1;
      else acknowledged.push(message);
      changed();
    });
  }

  /** Resolves when this many further changes have been acknowledged by any processes. */
  function moreChanges(count: number): Promise<void> {
    const goal = acknowledged.length + count;
    return new Promise((resolve) => {
      changed = () => {
        if (acknowledged.length >= goal) resolve();
      };
    });
  }

  function integrity(): unknown {
    const database = new Database(path);
    try {
      return database.pragma('integrity_check', { simple: true });
    } finally {
      database.close();
    }
  }

  async function expectAcknowledged(storage: FlagsStorage): Promise<void> {
    const { events } = await storage.events({ order: 'oldest-first', limit: 1_000_000 });
    const stored = events.map(({ subject, type }) => `${subject.id} ${type}`);
    expect(new Set(stored).size).toBe(stored.length);
    const known = new Set(stored);
    expect(acknowledged.filter((event) => !known.has(event))).toEqual([]);
    const flags = await openFlags<string>({ storage, pollInterval: 0, usage: { interval: 0 } });
    const { lastHour } = await flags.usage.count();
    expect(lastHour.get('counted')?.yes).toBeGreaterThanOrEqual(reports);
    await flags.close();
  }
});

describe('change sets that are repeated', () => {
  const KILLS = extent({ short: 4, full: 40 });
  const ID = '6f1c1f7e-6d0a-4c57-9b8e-4d5b1f2f7a01';
  /** Applied twice, it would add another strategy. */
  const ADDITION: readonly Change<string>[] = [{ op: 'addStrategy', ref: PRODUCTION, input: { name: 'default' } }];

  describe('a change set whose process is killed', () => {
    const directory = temporaryDirectory();
    afterAll(() => directory.remove());

    it('is applied once, whether it is repeated or not', async () => {
      const path = join(directory.path, 'flags.db');
      const start = childProgram('set-repeater', directory.path);
      const storage = await sqliteStorage({ path, busyTimeout: 60_000 });
      const flags = await openFlags<string>({ storage, pollInterval: 0 });
      for (let count = 0; count < KILLS; count++) {
        const ref = { ...DEFAULT, flag: `flag-${count}` };
        await flags.createFlag(DEFAULT, { name: ref.flag });
        const addition: Change<string> = {
          op: 'addStrategy',
          ref: { ...ref, environment: 'production' },
          input: { name: 'a' },
        };
        const update: Change<string> = { op: 'updateProject', ref: DEFAULT, input: { description: `${count}` } };
        const order = { id: randomUUID(), changes: [addition, update], holdAnswer: count % 2 === 0 };
        const child = start(path);
        await nextMessage(child);
        const begun = nextMessage(child);
        child.send(order);
        await begun;
        if (order.holdAnswer) await nextMessage(child);
        else await setTimeout(random() * 5);
        await kill(child);
        const set = await flags.apply(order.changes, { id: order.id });
        expect(set.events.map(({ type }) => type)).toEqual(['strategy-added', 'project-updated']);
        expect(await flags.apply(order.changes, { id: order.id })).toEqual(set);
        const { environments } = await flags.getFlag(ref);
        expect(environments.flatMap(({ strategies }) => strategies)).toHaveLength(1);
      }
      await expectInvariants(storage);
      await flags.close();
    });
  });

  describe('a change set whose outcome is unknown', () => {
    /** A storage that loses the answer to one commit, or to the reads of events after it. */
    function losing(memory: FlagsStorage) {
      const lost = { answer: false, events: false };
      const storage: FlagsStorage = {
        ...memory,
        async commit(commit) {
          const result = await memory.commit(commit);
          if (!lost.answer) return result;
          lost.answer = false;
          throw new FlagsError('outcome_unknown', 'The answer is lost.');
        },
        events(query) {
          if (!lost.events || !query.filter?.changeSet || query.withoutData) return memory.events(query);
          lost.events = false;
          throw new FlagsError('storage_unavailable', 'The connection is lost.');
        },
      };
      return { storage, lost };
    }

    it.each(['answer', 'events'] as const)('is clarified by a repetition, if the %s was lost', async (part) => {
      const { storage, lost } = losing(memoryStorage());
      const flags = await openFlags<string>({ storage, pollInterval: 0 });
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      lost[part] = true;
      const error = await refusalOf(flags.apply(ADDITION, { id: ID }));
      expect(error.code).toBe('outcome_unknown');
      const set: ChangeSet = await flags.apply(ADDITION, { id: ID });
      expect(set).toMatchObject({ id: ID, revisions: { 'flag/checkout': 2 }, events: [{ type: 'strategy-added' }] });
      expect((await flags.events.list({ type: 'strategy-added' })).total).toBe(1);
      await flags.close();
    });

    it('is applied once by three instances that repeat it at the same time', async () => {
      const storage = memoryStorage();
      const instances = await Promise.all([1, 2, 3].map(() => openFlags<string>({ storage, pollInterval: 0 })));
      await instances[0]?.createFlag(DEFAULT, { name: 'checkout' });
      const sets = await Promise.all(instances.map((flags) => flags.apply(ADDITION, { id: ID })));
      expect(new Set(sets.map((set) => JSON.stringify(set))).size).toBe(1);
      expect(sets[0]?.events).toHaveLength(1);
      const creation: readonly Change<string>[] = [{ op: 'createFlag', ref: DEFAULT, input: { name: 'new' } }];
      const created = await Promise.all(
        instances.map((flags) => flags.apply(creation, { id: ID.replace('6f', '7f') })),
      );
      expect(new Set(created.map((set) => JSON.stringify(set))).size).toBe(1);
      await instances[0]?.close();
    });
  });
});
