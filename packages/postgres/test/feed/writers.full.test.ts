import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { FlagsStorage } from '@flags/core';
import { extent } from '../../../../test/extent.js';
import { createRandom } from '../../../../test/seed.js';
import { until } from '../../../../test/until.js';
import { nextMessage, program } from '../../../core/test/storage/sqlite/child-program.js';
import { temporaryDirectory } from '../../../core/test/storage/temporary-directory.js';
import { postgresStorage } from '../../src/index.js';
import { ownDatabase } from '../own-database.js';
import type { Task } from './children/writer.js';

const random = createRandom();

const EVENTS = extent({ short: 1_000, full: 10_000 });
const LINES = 5;

describe('a feed reader among four writing processes, while transactions stay open for random times', () => {
  const { url, pool } = ownDatabase();
  const directory = temporaryDirectory();
  let storage: FlagsStorage;
  let writers: readonly ChildProcess[] = [];

  beforeAll(async () => {
    storage = await postgresStorage(url());
    await pool().query('CREATE TABLE orders (number integer)');
    const start = program(join(__dirname, 'children/writer.ts'), directory.path);
    writers = Array.from({ length: 4 }, () => start(url()));
    await Promise.all(writers.map(nextMessage));
  });

  afterAll(async () => {
    for (const writer of writers) {
      writer.kill('SIGKILL');
      await once(writer, 'exit');
    }
    await storage.close();
    directory.remove();
  });

  it('misses none of their events, and reads none twice', async () => {
    const state = { isOver: false };
    const foreign = Promise.all([1, 2, 3].map(() => keepTransactionsOpen(() => state.isOver)));
    const acknowledged = Promise.all(writers.map(nextMessage));
    writers.forEach((writer, index) => {
      const task: Task = { name: `writer-${index}`, lines: LINES, commits: EVENTS / 4 / LINES };
      writer.send(task);
    });
    const seen = await readUntil(EVENTS);
    state.isOver = true;
    await foreign;
    const written = (await acknowledged).flat().map(String);
    expect(written).toHaveLength(EVENTS);
    expect(seen.toSorted()).toEqual(written.toSorted());
  });

  /** Repeats a foreign transaction that has an id and writes none of our tables. */
  async function keepTransactionsOpen(isOver: () => boolean): Promise<void> {
    const client = await pool().connect();
    while (!isOver()) {
      await client.query('BEGIN');
      await client.query('INSERT INTO orders VALUES (1)');
      await new Promise((resolve) => setTimeout(resolve, random() * 200));
      await client.query('COMMIT');
    }
    client.release();
  }

  async function readUntil(count: number): Promise<string[]> {
    const seen: string[] = [];
    let after: string | undefined;
    await until(async () => {
      const { events } = await storage.events({ order: 'oldest-first', limit: 100, ...(after && { after }) });
      seen.push(...events.map(({ subject }) => subject.id));
      after = events.at(-1)?.position ?? after;
      return seen.length >= count;
    });
    return seen;
  }
});
