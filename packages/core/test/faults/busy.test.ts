import { join } from 'node:path';
import Database from 'better-sqlite3';
import { createFlags, type Flags } from '../../src/index.js';
import { sqliteStorage } from '../../src/sqlite.js';
import { CHECKOUT, DEFAULT } from '../rules/references.js';
import { busy } from '../storage/samples.js';
import { temporaryDirectory } from '../storage/temporary-directory.js';

describe('a lock that another connection holds', () => {
  let directory: ReturnType<typeof temporaryDirectory>;
  let other: Database.Database;
  let flags: Flags;
  let attempts: number;
  let database: Database.Database;

  beforeEach(async () => {
    directory = temporaryDirectory();
    const path = join(directory.path, 'flags.db');
    other = new Database(path);
    other.pragma('journal_mode = WAL');
    const verbose = (sql: unknown) => {
      if (sql === 'BEGIN IMMEDIATE') attempts += 1;
    };
    database = new Database(path, { timeout: 0, verbose });
    flags = await createFlags({
      storage: sqliteStorage({ database, busyTimeout: 0 }),
      pollInterval: 0,
      usageInterval: 0,
    });
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    attempts = 0;
    other.exec('BEGIN IMMEDIATE');
  });

  afterEach(async () => {
    if (other.inTransaction) other.exec('ROLLBACK');
    await flags.close();
    database.close();
    other.close();
    directory.remove();
  });

  it('is waited for once by all changes of one flag, not once by each', async () => {
    const changes = Array.from({ length: 100 }, (_, index) =>
      flags.updateFlag(CHECKOUT, { description: String(index) }),
    );
    for (const outcome of await Promise.allSettled(changes)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: busy });
    }
    expect(attempts).toBe(1);
    other.exec('ROLLBACK');
    await flags.updateFlag(CHECKOUT, { description: 'later' });
    expect(await flags.getFlag(CHECKOUT)).toMatchObject({ description: 'later' });
  });

  it('does not keep flags from being read and evaluated', async () => {
    await expect(flags.createFlag(DEFAULT, { name: 'other' })).rejects.toMatchObject(busy);
    expect(await flags.getFlag(CHECKOUT)).toMatchObject({ name: 'checkout' });
    expect(await flags.refresh()).toMatchObject({ state: 'current' });
    expect(flags.isEnabled('checkout')).toBe(false);
  });
});
