import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { Flags } from '../../src/index.js';
import { createFlags } from '../../src/index.js';
import { sqliteStorage } from '../../src/sqlite.js';
import type { Storage } from '../../src/storage/port.js';
import { expectInvariants } from '../properties/invariants.js';
import { contentOf } from '../properties/stored-content.js';
import { CHECKOUT, DEFAULT, PRODUCTION } from '../rules/references.js';
import { unavailable } from '../storage/samples.js';
import { temporaryDirectory } from '../storage/temporary-directory.js';

/** A name for a fault, a way to bring it about, and a way to put it right. */
type Fault = readonly [name: string, happen: (database: Database.Database) => void, end: typeof putRight];

function putRight(database: Database.Database): void {
  database.pragma('max_page_count = 1000000');
  database.pragma('query_only = OFF');
}

const FAULTS: readonly Fault[] = [
  ['a full disk', fill, putRight],
  ['a database that became read-only', (database) => void database.pragma('query_only = ON'), putRight],
];

/** Lets the database grow no more, and uses up the room that there is within it. */
function fill(database: Database.Database): void {
  database.pragma(`max_page_count = ${database.pragma('page_count', { simple: true })}`);
}

describe.each(FAULTS)('%s', (_, happen, end) => {
  const directory = temporaryDirectory();
  let database: Database.Database;
  let storage: Storage;
  let flags: Flags;

  beforeEach(async () => {
    database = new Database(join(directory.path, 'flags.db'));
    storage = await sqliteStorage({ database, tablePrefix: `t${process.hrtime.bigint()}_` });
    flags = await createFlags({ storage, pollInterval: 0, usageInterval: 0, onError: () => undefined });
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    await flags.addStrategy(PRODUCTION, { name: 'default' });
    await flags.enable(PRODUCTION);
  });

  afterEach(async () => {
    end(database);
    await flags.close();
    database.close();
  });

  afterAll(directory.remove);

  /** More than the free pages have room for. */
  const payload = { type: 'string' as const, value: 'long '.repeat(20_000) };
  const variants = [{ name: 'large', payload }];

  it('refuses changes with storage_unavailable, of which nothing is left', async () => {
    const before = await contentOf(storage);
    happen(database);
    const changes = [
      flags.setVariants(CHECKOUT, variants),
      flags.apply([
        { op: 'createFlag', ref: DEFAULT, input: { name: 'second' } },
        { op: 'setVariants', ref: { ...DEFAULT, flag: 'second' }, input: variants },
      ]),
    ];
    for (const outcome of await Promise.allSettled(changes)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: unavailable });
    }
    expect(await contentOf(storage)).toEqual(before);
  });

  it('lets flags be read, evaluated and followed', async () => {
    happen(database);
    await expect(flags.setVariants(CHECKOUT, variants)).rejects.toMatchObject(unavailable);
    expect(await flags.getFlag(CHECKOUT)).toMatchObject({ name: 'checkout', variants: [] });
    expect(await flags.listFlags(DEFAULT)).toHaveLength(1);
    expect(flags.isEnabled('checkout')).toBe(true);
    expect(await flags.refresh()).toMatchObject({ state: 'current' });
  });

  it('refuses reports with storage_unavailable, counts nothing of them, and takes them when they are repeated', async () => {
    const application = 'shop'.repeat(5_000);
    happen(database);
    const counts = [{ flag: 'a', yes: 1, no: 0 }];
    const batch = { id: '1', at: 1, reports: [{ application, instance: { id: '1' }, stop: 1, counts }] };
    const counted = async () => storage.usage?.sum({ resolution: 'minute', by: ['flag'] });
    await expect(storage.usage?.record(batch)).rejects.toMatchObject(unavailable);
    expect(await counted()).toEqual([]);
    end(database);
    await storage.usage?.record(batch);
    expect(await counted()).toEqual(counts);
  });

  it('is over as soon as it is put right, without a restart', async () => {
    happen(database);
    await expect(flags.setVariants(CHECKOUT, variants)).rejects.toMatchObject(unavailable);
    end(database);
    await flags.setVariants(CHECKOUT, variants);
    expect(await flags.getFlag(CHECKOUT)).toMatchObject({ variants });
    expect(database.pragma('integrity_check', { simple: true })).toBe('ok');
    await expectInvariants(storage);
  });

  it('fails none of the changes of its moment that can be made', async () => {
    happen(database);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 40 }, (_unused, index) => flags.createFlag(DEFAULT, { name: `flag-${index}` })),
    );
    const made = outcomes.flatMap(({ status }, index) => (status === 'fulfilled' ? [`flag-${index}`] : []));
    const stored = (await flags.listFlags(DEFAULT)).map(({ name }) => name);
    expect(stored.toSorted()).toEqual(['checkout', ...made].toSorted());
    await expectInvariants(storage);
  });
});
