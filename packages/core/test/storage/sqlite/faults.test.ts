import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { Storage } from '../../../src/storage/port.js';
import { sqliteStorage } from '../../../src/storage/sqlite/storage.js';
import { creation, flag, put } from '../samples.js';
import { temporaryDirectory } from '../temporary-directory.js';

/** By its message: the driver makes errors in the realm of the test file that loaded it first, where `Error` is another. */
const INJECTED = { message: expect.stringContaining('injected fault') };

describe.each(['ABORT', 'ROLLBACK', 'FAIL'])('a fault in the middle of a commit (%s)', (reaction) => {
  let directory: ReturnType<typeof temporaryDirectory>;
  let storage: Storage;

  beforeEach(async () => {
    directory = temporaryDirectory();
    const path = join(directory.path, 'flags.db');
    storage = await sqliteStorage(path);
    const saboteur = new Database(path);
    saboteur.exec(`
      CREATE TRIGGER poison BEFORE INSERT ON flags_events WHEN NEW.type = 'poisoned'
      BEGIN SELECT RAISE(${reaction}, 'injected fault'); END
    `);
    saboteur.close();
  });

  afterEach(async () => {
    await storage.close();
    directory.remove();
  });

  it('leaves neither document nor event', async () => {
    const { writes, events } = creation('a', 'poisoned');
    const commit = { writes: [...writes, put('b')], events: [...creation('b').events, ...events] };
    await expect(storage.commit({ ...commit, writes: [put('b'), put('a')] })).rejects.toMatchObject(INJECTED);
    expect(await storage.list({ kind: 'flag', part: 'body' })).toEqual([]);
    expect(await storage.events({ order: 'oldest-first', limit: 9, total: true })).toEqual({ events: [], total: 0 });
  });

  it('fails that commit alone of all that share its transaction', async () => {
    const ids = Array.from({ length: 9 }, (_, index) => `f${index}`);
    const types = (id: string) => (id === 'f4' ? 'poisoned' : 'created');
    const results = await Promise.allSettled(ids.map((id) => storage.commit(creation(id, types(id)))));
    expect(results.flatMap(({ status }, index) => (status === 'rejected' ? [index] : []))).toEqual([4]);
    const innocent = ids.filter((id) => id !== 'f4');
    expect((await storage.list({ kind: 'flag', part: 'summary' })).map(({ key }) => key.id)).toEqual(innocent);
    const { events } = await storage.events({ order: 'oldest-first', limit: 99 });
    expect(events.map(({ subject }) => subject.id)).toEqual(innocent);
  });

  it('does not disturb what comes after it', async () => {
    await expect(storage.commit(creation('a', 'poisoned'))).rejects.toMatchObject(INJECTED);
    expect(await storage.commit(creation('a'))).toEqual({ ok: true, revisions: [1] });
    expect((await storage.get(flag('a')))?.revision).toBe(1);
  });
});
