import { randomUUID } from 'node:crypto';
import { type FlagsStorage, openFlags } from '@flags/core';
import {
  type ApplicationRegistration,
  createUsageDeletion,
  type UsageBatch,
  type UsageReport,
  type UsageStorage,
  usageOf,
} from '@flags/core/integration/postgres';
import { type FreshDatabase, freshDatabase } from '@flags/test-postgres';
import { Client, Pool } from 'pg';
import type { Database } from '../../src/database.js';
import { postgresStorage } from '../../src/index.js';
import { usageDatabase } from '../../src/usage/usage-database.js';
import { databaseError, interferedPool } from '../interfered-pool.js';
import { ownDatabase } from '../own-database.js';
import { recordedPool } from '../recorded-pool.js';
import { openedUsage } from './opened-usage.js';

describe('batches that are recorded at the same time', () => {
  const NOW = Date.UTC(2030, 0, 15, 12, 0, 0);
  const database = ownDatabase();
  const asked: string[] = [];
  let storage: FlagsStorage;
  let usage: UsageStorage;

  beforeAll(async () => {
    const pool = recordedPool(database.pool(), ({ text }) => void asked.push(text));
    storage = await postgresStorage({ pool, listen: false });
    usage = usageOf(storage) as UsageStorage;
  });
  afterAll(() => storage.close());
  beforeEach(() => {
    asked.length = 0;
  });

  const writes = () => asked.filter((text) => /INSERT INTO "public"\."flags_usage_batches"/.test(text)).length;

  function registration(application: string, more: Partial<ApplicationRegistration> = {}): ApplicationRegistration {
    return { application, instance: { id: 'one' }, strategies: ['default'], ...more };
  }

  function report(application: string): UsageReport {
    return { application, instance: { id: 'one' }, stop: NOW, counts: [{ flag: 'checkout', yes: 2, no: 1 }] };
  }

  const record = (batch: Pick<UsageBatch, 'registrations' | 'reports'>) =>
    usage.record({ id: randomUUID(), at: NOW, ...batch });

  it('are stored by one statement: reports, registrations, and both together', async () => {
    await Promise.all([
      record({ reports: [report('shop')] }),
      record({ registrations: [registration('desk', { description: 'Help desk' })] }),
      record({ reports: [report('till')], registrations: [registration('till', { color: 'red' })] }),
      record({ registrations: [registration('desk', { strategies: ['userWithId'] })] }),
    ]);
    expect(writes()).toBe(1);
    expect(await usage.sum({ resolution: 'minute', by: ['flag'] })).toEqual([{ flag: 'checkout', yes: 4, no: 2 }]);
    expect(await usage.applications({})).toMatchObject([
      { name: 'desk', strategies: ['userWithId'], description: 'Help desk' },
      { name: 'shop', strategies: [] },
      { name: 'till', strategies: ['default'], color: 'red' },
    ]);
  });

  it('count those once that were recorded before', async () => {
    const [known, other] = [randomUUID(), randomUUID()];
    const batch = (id: string) => ({ id, at: NOW, reports: [report('repeated')] });
    await usage.record(batch(known));
    await Promise.all([batch(known), batch(other), batch(other)].map((one) => usage.record(one)));
    const query = { resolution: 'ever', by: ['flag', 'application'], application: 'repeated' } as const;
    expect(await usage.sum(query)).toMatchObject([{ yes: 4, no: 2 }]);
  });

  it('make several statements if their texts are long', async () => {
    const description = 'x'.repeat(60_000);
    const names = Array.from({ length: 20 }, (_, number) => `long-${number}`);
    await Promise.all(names.map((name) => record({ registrations: [registration(name, { description })] })));
    expect(writes()).toBeGreaterThan(5);
    const found = await usage.applications({ names });
    expect(found.map((application) => application.description.length)).toEqual(names.map(() => description.length));
  });
});

describe('the limits of usage', () => {
  const HOUR = 3_600_000;
  const NOW = Date.UTC(2030, 0, 15, 12, 0, 0);
  const FLAGS = Array.from({ length: 100 }, (_, index) => ({ flag: `flag-${1000 + index}`, yes: 1, no: 0 }));

  const database = ownDatabase();
  let usage: UsageStorage;

  beforeAll(async () => {
    usage = await openedUsage({ connectionString: database.url() });
  });
  afterAll(() => usage.close());

  it('drop the oldest rows of public reporters first, then those of the largest application', async () => {
    const record = (application: string, age: number, isPublic: boolean) => {
      const stop = NOW - age * HOUR;
      const report = { application, instance: { id: '1' }, stop, counts: FLAGS };
      return usage.record({
        id: randomUUID(),
        at: stop,
        reporter: { token: application, isPublic },
        reports: [report],
      });
    };
    for (const age of [4, 3, 2, 1, 0]) await record('shop', age, false);
    for (const age of [5, 0]) await record('page', age, true);
    await record('small', 6, false);

    const query = async <Row>(text: string, values: readonly unknown[] = []) =>
      (await database.ask(text, [...values])) as Row[];
    const transaction = <T>(work: (one: object) => Promise<T>) => work({ query });
    const statements = { query, transaction };
    const tables = usageDatabase(statements as unknown as Database, { schema: 'public', tablePrefix: 'flags_' });
    const bounds = { hours: 350, days: 10_000, pairs: 10_000, names: 10_000 };
    const { prune } = createUsageDeletion({ ...tables, slice: 5000, applicationsPerSlice: 100, bounds });
    expect(await prune({ now: NOW })).toEqual({ names: 0, reports: 0, usage: 450 });
    const rows = await usage.sum({ resolution: 'hour', by: ['application', 'start'] });
    expect(rows.map(({ application, start, yes }) => [application, (NOW - start) / HOUR, yes])).toEqual([
      ['shop', 2, 50],
      ['shop', 1, 100],
      ['shop', 0, 100],
      ['small', 6, 100],
    ]);
    expect(await prune({ now: NOW })).toEqual({ names: 0, reports: 0, usage: 0 });
  });
});

describe('a report whose answer is lost', () => {
  const NOW = Date.UTC(2030, 0, 15, 12, 0, 0);
  const REPORT = {
    application: 'shop',
    instance: { id: 'shop-1' },
    stop: NOW,
    counts: [{ flag: 'checkout', yes: 2, no: 1 }],
  };

  let database: FreshDatabase;
  let pool: Pool;
  let storage: FlagsStorage;
  let usage: UsageStorage;
  /** Replace the next answers to writes. */
  const errors: Error[] = [];
  const lost = () => new Error('Connection terminated unexpectedly');

  beforeAll(async () => {
    database = await freshDatabase();
    pool = new Pool({ connectionString: database.url });
    // Dropping the database ends connections that the pool has not quite closed.
    pool.on('error', () => undefined);
    const interfered = interferedPool(pool, ({ text }) => {
      const error = text.includes('INSERT') ? errors.shift() : undefined;
      if (error) throw error;
    });
    storage = await postgresStorage({ pool: interfered, listen: false, outcomeTimeout: 1000 });
    usage = usageOf(storage) as UsageStorage;
  });
  afterAll(async () => {
    await storage.close();
    await pool.end();
    await database.drop();
  });

  const record = (registrations: readonly ApplicationRegistration[] = []) =>
    usage.record({ id: randomUUID(), at: NOW, registrations, reports: [REPORT] });
  const counts = () => usage.sum({ resolution: 'minute', by: ['flag'] });

  it('is counted once', async () => {
    errors.push(lost(), lost());
    await record();
    expect(errors).toEqual([]);
    expect(await counts()).toEqual(REPORT.counts);
  });

  it('is counted beside another one that is the same', async () => {
    errors.push(lost());
    await record();
    expect(await counts()).toEqual([{ flag: 'checkout', yes: 4, no: 2 }]);
  });

  it('is counted once together with registrations', async () => {
    errors.push(lost(), lost());
    const registration = { application: 'new', instance: { id: 'n' }, strategies: ['default'] };
    await record([registration]);
    expect(errors).toEqual([]);
    expect(await counts()).toEqual([{ flag: 'checkout', yes: 6, no: 3 }]);
    expect(await usage.applications({ names: ['new'] })).toMatchObject([{ strategies: ['default'] }]);
  });

  it('is counted once together with another report of its batch', async () => {
    errors.push(lost());
    await Promise.all([record(), record()]);
    expect(errors).toEqual([]);
    expect(await counts()).toEqual([{ flag: 'checkout', yes: 10, no: 5 }]);
  });

  it('is counted once when the repetition finds the database busy', async () => {
    errors.push(lost(), databaseError('55P03', 'canceling statement due to lock timeout'));
    await record();
    expect(await counts()).toEqual([{ flag: 'checkout', yes: 12, no: 6 }]);
  });

  it('has an unknown outcome, and is not sent again under another id, when the repetition is refused', async () => {
    errors.push(lost(), databaseError('XX001', 'data corrupted'));
    const both = await Promise.allSettled([record(), record()]);
    expect(both).toEqual(
      [1, 2].map(() => ({ status: 'rejected', reason: expect.objectContaining({ code: 'outcome_unknown' }) })),
    );
    expect(await counts()).toEqual([{ flag: 'checkout', yes: 16, no: 8 }]);
  });
});

describe('a bulk report with an id', () => {
  const database = ownDatabase();

  it('counts once, also when it is repeated at another node', async () => {
    const open = async () =>
      openFlags({ storage: await postgresStorage({ connectionString: database.url() }), usage: { interval: 0 } });
    const [one, other] = await Promise.all([open(), open()]);
    const stop = new Date().toISOString();
    const counts = { checkout: { yes: 2, no: 1 } };
    const bulk = { reports: [{ application: 'shop', start: stop, stop, counts }] };
    const origin = { id: 'batch', reporter: { token: 'follower', isPublic: false } };
    for (const node of [one, one, other]) await node.reportMetricsInBulk(bulk, origin);
    expect((await other.usage.count()).lastHour.get('checkout')).toEqual({ yes: 2, no: 1 });
    // At the same time, as when an answer is late.
    await Promise.all([one, other].map((node) => node.reportMetricsInBulk(bulk, { ...origin, id: 'next' })));
    expect((await one.usage.count()).lastHour.get('checkout')).toEqual({ yes: 4, no: 2 });
    await Promise.all([one.close(), other.close()]);
  });
});

describe('nodes that report the same flags at the same time', () => {
  const HOUR = 3_600_000;
  const NOW = Date.UTC(2030, 0, 15, 12, 0, 0);
  const NODES = 20;
  const REPORTS = 10;
  const FLAGS = Array.from({ length: 200 }, (_, index) => `flag-${1000 + index}`);

  let database: FreshDatabase;
  let nodes: readonly UsageStorage[];

  beforeAll(async () => {
    database = await freshDatabase();
    const place = { connectionString: database.url };
    nodes = await Promise.all(Array.from({ length: NODES }, () => openedUsage(place)));
  });
  afterAll(() => database.drop());

  it('are all counted exactly, and never deadlock', async () => {
    await Promise.all(nodes.flatMap((node, index) => Array.from({ length: REPORTS }, () => report(node, index))));
    const [node] = nodes;
    const sum = NODES * REPORTS;
    const pairs = await node?.sum({ resolution: 'ever', by: ['application', 'flag'] });
    expect(pairs).toEqual(FLAGS.map((flag) => ({ application: 'shop', flag, yes: sum, no: 2 * sum })));
    const late = Math.ceil(NODES / 3) * REPORTS;
    for (const resolution of ['minute', 'hour'] as const) {
      const counts = await node?.sum({ resolution, by: ['flag', 'start'], flag: 'flag-1000' });
      expect(counts?.map(({ start, yes, no }) => [start, yes, no])).toEqual([
        [NOW - HOUR, late, 2 * late],
        [NOW, sum - late, 2 * (sum - late)],
      ]);
    }
    const [shop] = (await node?.applications({ instances: true })) ?? [];
    expect(shop?.instances).toHaveLength(2);
    // A session adds to the statistics when it ends, at the latest.
    for (const open of nodes) await open.close();
    expect(await deadlocksIn(database.url)).toBe('0');
  });

  /** Half of the nodes report the flags in reverse order. All nodes share two instances. Some report the hour before. */
  function report(node: UsageStorage, index: number) {
    const flags = index % 2 === 0 ? FLAGS : FLAGS.toReversed();
    const report = {
      application: 'shop',
      instance: { id: `shop-${index % 2}` },
      stop: index % 3 === 0 ? NOW - HOUR : NOW,
      counts: flags.map((flag) => ({ flag, yes: 1, no: 2 })),
    };
    return node.record({ id: randomUUID(), at: NOW, reports: [report] });
  }

  async function deadlocksIn(url: string): Promise<string> {
    const client = new Client(url);
    await client.connect();
    const { rows } = await client.query('SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()');
    await client.end();
    return rows[0]?.deadlocks;
  }
});
