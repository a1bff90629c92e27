import { setImmediate } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { sqliteStorage } from '../../../src/storage/sqlite/storage.js';
import { creation, flag, put } from '../samples.js';

/** A storage on a database that logs every statement it runs. */
async function loggingStorage() {
  const log: unknown[] = [];
  const database = new Database(':memory:', { verbose: (sql) => log.push(sql) });
  const storage = await sqliteStorage({ database });
  log.length = 0;
  return { storage, database, log, count: (statement: string) => log.filter((entry) => entry === statement).length };
}

const ids = (count: number) => Array.from({ length: count }, (_, index) => `f${index}`);

describe('simultaneous commits', () => {
  it('share one transaction', async () => {
    const { storage, count } = await loggingStorage();
    const results = await Promise.all(ids(100).map((id) => storage.commit(creation(id))));
    expect(results).toEqual(ids(100).map(() => ({ ok: true, revisions: [1] })));
    expect([count('BEGIN IMMEDIATE'), count('COMMIT'), count('ROLLBACK')]).toEqual([1, 1, 0]);
  });

  it('share several transactions when there are very many', async () => {
    const { storage, count } = await loggingStorage();
    await Promise.all(ids(600).map((id) => storage.commit(creation(id))));
    expect(count('COMMIT')).toBe(3);
  });

  it('share a transaction of at most 8 MiB', async () => {
    const { storage, count } = await loggingStorage();
    const large = (id: string) => ({ writes: [{ ...put(id), body: 'x'.repeat(3 * 1_048_576) }], events: [] });
    const results = await Promise.all(ids(5).map((id) => storage.commit(large(id))));
    expect(results.every(({ ok }) => ok)).toBe(true);
    expect(count('COMMIT')).toBe(3);
  });

  it('are answered after the transaction has been committed', async () => {
    const { storage, log } = await loggingStorage();
    const answered = ids(3).map(async (id) => {
      await storage.commit(creation(id));
      log.push(`answered ${id}`);
    });
    await Promise.all(answered);
    expect(log.slice(log.indexOf('COMMIT'))).toEqual(['COMMIT', 'answered f0', 'answered f1', 'answered f2']);
  });

  it('are checked against the writes of the previous ones', async () => {
    const { storage, count } = await loggingStorage();
    const results = await Promise.all(['a', 'a', 'b', 'a', 'b'].map((id) => storage.commit(creation(id))));
    expect(results.map(({ ok }) => ok)).toEqual([true, false, true, false, false]);
    expect(count('BEGIN IMMEDIATE')).toBe(1);
  });

  it('leave nothing of the one that loses', async () => {
    const { storage } = await loggingStorage();
    const loser = { writes: [...creation('new').writes, ...creation('a').writes], events: creation('new').events };
    await Promise.all([storage.commit(creation('a')), storage.commit(loser), storage.commit(creation('b'))]);
    expect(await storage.get(flag('new'))).toBeUndefined();
    expect((await storage.events({ order: 'oldest-first', limit: 9 })).events).toHaveLength(2);
  });

  it('wait for each other while the transaction is open', async () => {
    const { storage, count } = await loggingStorage();
    const first = storage.commit(creation('a'));
    await setImmediate();
    const second = storage.commit(creation('b'));
    await Promise.all([first, second]);
    expect([count('BEGIN IMMEDIATE'), count('COMMIT')]).toEqual([2, 2]);
  });

  it('do not keep a value that JSON cannot express from failing alone', async () => {
    const { storage } = await loggingStorage();
    const impossible = { ...creation('b'), writes: [{ ...creation('b').writes[0], body: 1n }] };
    const results = await Promise.allSettled(
      [creation('a'), impossible, creation('c')].map((commit) => storage.commit(commit as ReturnType<typeof creation>)),
    );
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await storage.get(flag('b'))).toBeUndefined();
  });
});
