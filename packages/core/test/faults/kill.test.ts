import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { extent } from '../../../../test/extent.js';
import { createRandom } from '../../../../test/seed.js';
import { createFlags } from '../../src/index.js';
import { sqliteStorage } from '../../src/sqlite.js';
import type { Storage } from '../../src/storage/port.js';
import { expectInvariants } from '../properties/invariants.js';
import { program } from '../storage/sqlite/child-program.js';
import { temporaryDirectory } from '../storage/temporary-directory.js';
import { kill } from './killing.js';

const random = createRandom();

const KILLS = extent({ short: 5, full: 100 });
const PROCESSES = 3;
/** A process is killed when this many changes have been acknowledged since the last kill, at most. */
const MOST_CHANGES = 150;

describe('processes on one file that are killed while they write', () => {
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

  it('lose nothing that was acknowledged, break no rule, and leave no lock behind for those that go on', async () => {
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

  /** Hears what a process says it has done. */
  function listenTo(child: ChildProcess): ChildProcess {
    return child.on('message', (message: string) => {
      if (message === 'report') reports += 1;
      else acknowledged.push(message);
      changed();
    });
  }

  /** Resolves when so many changes more have been acknowledged, by whichever processes. */
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

  async function expectAcknowledged(storage: Storage): Promise<void> {
    const { events } = await storage.events({ order: 'oldest-first', limit: 1_000_000 });
    const stored = events.map(({ subject, type }) => `${subject.id} ${type}`);
    expect(new Set(stored).size).toBe(stored.length);
    const known = new Set(stored);
    expect(acknowledged.filter((event) => !known.has(event))).toEqual([]);
    const flags = await createFlags({ storage, pollInterval: 0, usageInterval: 0 });
    const { lastHour } = await flags.countEvaluations();
    expect(lastHour.get('counted')?.yes).toBeGreaterThanOrEqual(reports);
    await flags.close();
  }
});
