import { join } from 'node:path';
import Database from 'better-sqlite3';
import { createFlags, type Flags } from '../../src/index.js';
import { sqliteStorage } from '../../src/sqlite.js';
import { memoryUsage } from '../../src/storage/memory/usage.js';
import type { FlagsStorage } from '../../src/storage/port.js';
import { type UsageStorage, usageOf } from '../../src/storage/usage/port.js';
import { expectInvariants } from '../properties/invariants.js';
import { contentOf } from '../properties/stored-content.js';
import { CHECKOUT, DEFAULT, PRODUCTION } from '../rules/references.js';
import { DAY, HOUR, MINUTE, SECOND, type SettableClock, settableClock } from '../rules/settable-clock.js';
import { unavailable } from '../storage/samples.js';
import { temporaryDirectory } from '../storage/temporary-directory.js';
import { type OpenStorage, PROPERTY_STORAGES } from '../storage-kinds.js';

/** The name of a fault, a function that causes it, and a function that ends it. */
type Fault = readonly [name: string, happen: (database: Database.Database) => void, end: typeof putRight];

function putRight(database: Database.Database): void {
  database.pragma('max_page_count = 1000000');
  database.pragma('query_only = OFF');
}

const FAULTS: readonly Fault[] = [
  ['a full disk', fill, putRight],
  ['a database that became read-only', (database) => void database.pragma('query_only = ON'), putRight],
];

/** Keeps the database from growing, and fills its free pages. */
function fill(database: Database.Database): void {
  database.pragma(`max_page_count = ${database.pragma('page_count', { simple: true })}`);
}

describe.each(FAULTS)('%s', (_, happen, end) => {
  const directory = temporaryDirectory();
  let database: Database.Database;
  let storage: FlagsStorage;
  let flags: Flags;

  beforeEach(async () => {
    database = new Database(join(directory.path, 'flags.db'));
    storage = await sqliteStorage({ database, tablePrefix: `t${process.hrtime.bigint()}_` });
    flags = await createFlags({ storage, pollInterval: 0, usage: { interval: 0 }, onError: () => undefined });
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

  /** More than fits into the free pages. */
  const payload = { type: 'string' as const, value: 'long '.repeat(20_000) };
  const variants = [{ name: 'large', payload }];

  it('refuses changes with storage_unavailable, and leaves nothing of them', async () => {
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

  it('permits reading, evaluating and following flags', async () => {
    happen(database);
    await expect(flags.setVariants(CHECKOUT, variants)).rejects.toMatchObject(unavailable);
    expect(await flags.getFlag(CHECKOUT)).toMatchObject({ name: 'checkout', variants: [] });
    expect((await flags.listFlags(DEFAULT)).items).toHaveLength(1);
    expect(flags.isEnabled('checkout')).toBe(true);
    expect(await flags.refresh()).toMatchObject({ state: 'current' });
  });

  it('refuses reports with storage_unavailable, counts nothing of them, and accepts their repetition', async () => {
    const application = 'shop'.repeat(5_000);
    happen(database);
    const counts = [{ flag: 'a', yes: 1, no: 0 }];
    const batch = { id: '1', at: 1, reports: [{ application, instance: { id: '1' }, stop: 1, counts }] };
    const counted = async () => usageOf(storage)?.sum({ resolution: 'minute', by: ['flag'] });
    await expect(usageOf(storage)?.record(batch)).rejects.toMatchObject(unavailable);
    expect(await counted()).toEqual([]);
    end(database);
    await usageOf(storage)?.record(batch);
    expect(await counted()).toEqual(counts);
  });

  it('is over as soon as the disk works again, without a restart', async () => {
    happen(database);
    await expect(flags.setVariants(CHECKOUT, variants)).rejects.toMatchObject(unavailable);
    end(database);
    await flags.setVariants(CHECKOUT, variants);
    expect(await flags.getFlag(CHECKOUT)).toMatchObject({ variants });
    expect(database.pragma('integrity_check', { simple: true })).toBe('ok');
    await expectInvariants(storage);
  });

  it('fails none of the simultaneous changes that fit', async () => {
    happen(database);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 40 }, (_unused, index) => flags.createFlag(DEFAULT, { name: `flag-${index}` })),
    );
    const made = outcomes.flatMap(({ status }, index) => (status === 'fulfilled' ? [`flag-${index}`] : []));
    const stored = (await flags.listFlags(DEFAULT)).items.map(({ name }) => name);
    expect(stored.toSorted()).toEqual(['checkout', ...made].toSorted());
    await expectInvariants(storage);
  });
});

const YEAR = 365 * DAY;
const JUMPS = [HOUR, -2 * HOUR, 10 * YEAR, -20 * YEAR, 10 * YEAR, MINUTE];

describe.each(PROPERTY_STORAGES)('on $name, a clock that jumps', ({ open }) => {
  let opened: OpenStorage;
  let storage: FlagsStorage;
  let clock: SettableClock;
  let flags: Flags;
  let pruned: number;

  beforeEach(async () => {
    opened = await open();
    storage = opened.storage;
    clock = settableClock();
    pruned = 0;
    flags = await start();
  });
  afterEach(async () => {
    await flags.close();
    await opened.dispose();
  });

  function start(): Promise<Flags> {
    const usage = observed(usageOf(storage) ?? memoryUsage());
    return createFlags({ storage: { ...storage, usage }, usage: { interval: 0 }, now: clock.now, pollInterval: 0 });
  }

  function observed(usage: UsageStorage): UsageStorage {
    return {
      ...usage,
      prune: (retention) => {
        pruned += 1;
        return usage.prune(retention);
      },
    };
  }

  async function report(flag = 'checkout'): Promise<void> {
    const bucket = { start: clock.text(), stop: clock.text(), toggles: { [flag]: { yes: 1, no: 0 } } };
    await flags.reportMetrics({ appName: 'shop', bucket });
  }

  it('does not change documents, their order, and the feed', async () => {
    const heard: string[] = [];
    flags.subscribe(({ data }) => void heard.push((data as { name: string }).name));
    const names = JUMPS.map((_, index) => `flag-${index}`);
    for (const [index, jump] of JUMPS.entries()) {
      clock.advance(jump);
      await flags.createFlag(DEFAULT, { name: names[index] ?? '' });
    }
    const { items: events } = await flags.listEvents({ type: 'flag-created' });
    expect(events.map(({ flag }) => flag)).toEqual(names.toReversed());
    while (heard.length < names.length) await new Promise(setImmediate);
    expect(heard).toEqual(names);
    await expectInvariants(storage);
  });

  it('shows changes of other processes, whatever their clocks say', async () => {
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    await flags.addStrategy(PRODUCTION, { name: 'default' });
    clock.advance(-YEAR);
    const other = await start();
    await other.enable(PRODUCTION);
    clock.advance(2 * YEAR);
    expect(await flags.refresh()).toMatchObject({ state: 'current', checkedAt: clock.text() });
    expect(flags.isEnabled('checkout')).toBe(true);
    clock.advance(-2 * YEAR);
    await other.disable(PRODUCTION);
    expect(await flags.refresh()).toMatchObject({ state: 'current', checkedAt: clock.text() });
    expect(flags.isEnabled('checkout')).toBe(false);
  });

  it('makes tokens expire by the current clock, and not permanently', async () => {
    await flags.createToken({
      name: 'short',
      kind: 'admin',
      secret: 'a-secret-of-at-least-32-printable-characters',
      expiresAt: clock.text(HOUR),
    });
    clock.advance(YEAR);
    expect(await flags.verifyToken('a-secret-of-at-least-32-printable-characters')).toBeUndefined();
    clock.advance(-2 * YEAR);
    expect(await flags.verifyToken('a-secret-of-at-least-32-printable-characters')).toMatchObject({ name: 'short' });
  });

  it('keeps the health of projects between 0 and 100', async () => {
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    const healths: number[] = [];
    for (const jump of [-YEAR, 2 * YEAR, -YEAR]) {
      clock.advance(jump);
      healths.push((await flags.getProject(DEFAULT)).health);
    }
    expect(healths).toEqual([100, 0, 100]);
  });

  it('does not keep future counts in the last hour', async () => {
    for (const name of ['checkout', 'other']) await flags.createFlag(DEFAULT, { name });
    await report();
    clock.advance(YEAR);
    await report();
    await report('other');
    clock.advance(-YEAR);
    await report();
    const { lastHour, lastMinute } = await flags.countEvaluations();
    expect([...lastHour]).toEqual([['checkout', { yes: 1, no: 0 }]]);
    expect([...lastMinute]).toEqual([['checkout', { yes: 1, no: 0 }]]);
  });

  it('counts reports of a process whose clock is slightly ahead', async () => {
    clock.advance(30 * SECOND);
    await report();
    clock.advance(-30 * SECOND);
    expect((await flags.countEvaluations()).lastMinute.get('checkout')).toEqual({ yes: 1, no: 0 });
  });

  it('does not postpone the pruning of usage when it moves back', async () => {
    clock.advance(10 * YEAR);
    await report();
    clock.advance(-10 * YEAR);
    await report();
    expect(pruned).toBe(2);
    for (let hour = 0; hour < 3; hour++) {
      clock.advance(HOUR);
      await report();
    }
    expect(pruned).toBe(5);
  });

  it('permits a flag to be seen again after it was seen in the future', async () => {
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    await report();
    clock.advance(-YEAR);
    await report();
    clock.advance(YEAR + HOUR);
    await report();
    expect(await flags.getFlag(CHECKOUT)).toMatchObject({ lastSeenAt: clock.text() });
  });
});
