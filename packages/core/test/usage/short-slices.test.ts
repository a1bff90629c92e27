import { extent } from '../../../../test/extent.js';
import { processorTime } from '../../../../test/processor-time.js';
import { LIMITS } from '../../src/base/limits.js';
import { createFlags, type Flags, memoryStorage, memoryUsage, type UsageStorage } from '../../src/index.js';
import type { UsageReport } from '../../src/storage/usage-port.js';
import { type UsageFile, usageFile } from './sqlite-file.js';

const NOW = Date.UTC(2030, 0, 15, 12, 0, 0);
const HOUR = 3_600_000;
const DAY = 86_400_000;

/** Three times what a slice may take, in milliseconds of processor time. */
const SHORT = 30;

function names(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `name-${1_000_000 + index}`);
}

async function record(usage: UsageStorage, given: Partial<UsageReport>, at = NOW) {
  const report = { application: 'shop', instance: { id: '1' }, stop: NOW, counts: [], ...given };
  return usage.record({ id: crypto.randomUUID(), at, reports: [report] });
}

/** How often the event loop had a turn, and the typical and longest processor time without one, in milliseconds. */
async function turnsWithin(work: () => PromiseLike<unknown> | unknown) {
  const delays: number[] = [];
  let last = processorTime();
  let isDone = false;
  const turn = () => {
    const now = processorTime();
    delays.push(now - last);
    last = now;
    if (!isDone) setImmediate(turn);
  };
  setImmediate(turn);
  await new Promise(setImmediate);
  delays.length = 0;
  last = processorTime();
  await work();
  isDone = true;
  delays.push(processorTime() - last);
  delays.sort((one, other) => one - other);
  return { count: delays.length, common: delays[Math.floor(delays.length * 0.9)] ?? 0, longest: delays.at(-1) ?? 0 };
}

describe('in SQLite', () => {
  let file: UsageFile;
  let usage: UsageStorage;

  beforeEach(async () => {
    file = await usageFile();
    file.database.pragma('synchronous = OFF');
    const opened = file.open();
    opened.database.pragma('synchronous = OFF');
    usage = opened.usage;
  });
  afterEach(() => file.remove());

  /** What 0.1 stored of invented names, after the migration. */
  function storeInvented(count: number): void {
    const { database } = file;
    const statements = [
      database.prepare(`INSERT INTO flags_counts VALUES (1, ?, '', '', ${NOW}, '', 1, 0, ${NOW}, 0, 0)`),
      database.prepare(`INSERT INTO flags_counts VALUES (4, ?, 'shop', '', 0, '', 1, 0, ${NOW}, 0, 0)`),
      database.prepare(`INSERT INTO flags_last_seen VALUES (?, ${NOW})`),
    ];
    database.transaction(() => {
      for (const name of names(count)) for (const statement of statements) statement.run(name);
    })();
  }

  it('pruning leaves the event loop to others after every slice', async () => {
    await record(usage, { counts: [{ flag: 'checkout', yes: 1, no: 0 }] });
    storeInvented(50_000);
    const unseen = { since: NOW + 1, isFlag: (name: string) => name === 'checkout' };
    const { count, common } = await turnsWithin(() => usage.prune({ now: NOW + HOUR, unseen }));
    expect(count).toBeGreaterThan(100);
    expect(common).toBeLessThan(SHORT);
    expect(await usage.sum({ resolution: 'ever', by: ['flag'] })).toEqual([]);
    expect([...(await usage.lastSeen(['checkout', ...names(50_000)])).keys()]).toEqual(['checkout']);
  });

  it('a crash in the middle of pruning leaves what the next call drops', async () => {
    storeInvented(5000);
    let asked = 0;
    const isFlag = () => {
      asked += 1;
      if (asked === 2000) throw new Error('injected fault');
      return false;
    };
    const since = NOW + DAY;
    const retention = { now: NOW + 2 * HOUR, unseen: { since, isFlag } };
    await expect((async () => usage.prune(retention))()).rejects.toThrow('injected fault');
    await usage.prune({ ...retention, unseen: { since, isFlag: () => false } });
    for (const table of ['counts', 'last_seen']) {
      expect(file.database.prepare(`SELECT count(*) FROM flags_${table}`).pluck().get()).toBe(0);
    }
  });

  it('forgetting a flag of many hours leaves the event loop to others', async () => {
    file.database.exec(`
      INSERT INTO flags_counts
      WITH RECURSIVE hours(number) AS (SELECT 0 UNION ALL SELECT number + 1 FROM hours WHERE number < 49999)
      SELECT 2, 'checkout', 'app-' || number, '', ${NOW}, '', 1, 0, ${NOW}, 0, 0 FROM hours`);
    const { count, common } = await turnsWithin(() => usage.forget({ flags: ['checkout'] }));
    expect(count).toBeGreaterThan(50);
    expect(common).toBeLessThan(SHORT);
    expect(await usage.sum({ resolution: 'hour', by: ['flag'] })).toEqual([]);
  });

  it('drops rows of public reporters, then the oldest ones of the largest application, and counts them', async () => {
    const small = 1000;
    const rows = (application: string, { first, last, isPublic = 0 }: Record<string, number>) => `
      INSERT INTO flags_counts
      WITH RECURSIVE days(number) AS (SELECT ${first} UNION ALL SELECT number + 1 FROM days WHERE number < ${last})
      SELECT 3, 'flag-' || number, '${application}', '', ${NOW - (NOW % DAY)} - number % 3 * ${DAY}, '',
        1, 0, ${NOW}, ${isPublic}, 0 FROM days;`;
    file.database.exec(rows('largest', { first: 1, last: LIMITS.usageDayRows }));
    file.database.exec(rows('small', { first: 1, last: small }));
    file.database.exec(rows('page', { first: 1, last: small, isPublic: 1 }));
    expect(await usage.prune({ now: NOW })).toEqual({ names: 0, reports: 0, usage: 2 * small });
    const left = file.database
      .prepare('SELECT application, count(*) FROM flags_counts GROUP BY application')
      .raw()
      .all();
    expect(left).toEqual([
      ['largest', LIMITS.usageDayRows - small],
      ['small', small],
    ]);
    const oldest = file.database.prepare('SELECT count(*) FROM flags_counts WHERE application = ? AND start = ?');
    expect(oldest.pluck().get('largest', NOW - (NOW % DAY) - 2 * DAY)).toBe(LIMITS.usageDayRows / 3 - small);
  });
});

describe('in memory', () => {
  it('usage over time has a bounded size, and drops the oldest rows', async () => {
    const usage = memoryUsage();
    const counts = names(10_000).map((flag) => ({ flag, yes: 1, no: 0 }));
    for (let age = 8; age >= 0; age--) await record(usage, { stop: NOW - age * HOUR, counts });
    expect(await usage.prune({ now: NOW })).toEqual({ names: 0, reports: 0, usage: 20_000 });
    const stored = await usage.sum({ resolution: 'hour', by: ['flag', 'start'] });
    expect(stored).toHaveLength(0.7 * LIMITS.usageRowsInMemory);
    expect(Math.min(...stored.map(({ start }) => start))).toBe(NOW - 6 * HOUR);
  });

  it('instances and registrations have a bounded size', async () => {
    const usage = memoryUsage();
    const reporter = { token: 'page', isPublic: true };
    await record(usage, {});
    for (let application = 0; application < 60; application++) {
      const registrations = names(1000).map((id) => {
        return { application: `app-${application}`, instance: { id }, strategies: ['s'.repeat(400_000)] };
      });
      await usage.record({ id: `${application}`, at: NOW + application, reporter, registrations });
    }
    await usage.prune({ now: NOW });
    const stored = await usage.applications({ instances: true });
    const instances = stored.reduce((sum, one) => sum + (one.instances?.length ?? 0), 0);
    const text = stored.reduce((sum, { strategies }) => sum + strategies.join('').length, 0);
    expect(instances).toBeLessThanOrEqual(50_000);
    expect(text).toBeGreaterThan(16_000_000);
    expect(text).toBeLessThanOrEqual(16_777_216);
    expect(stored.map(({ name }) => name)).toContain('shop');
  });
});

const INVENTED = extent({ short: 200_000, full: 1_000_000 });

describe(`${INVENTED} invented names`, () => {
  let flags: Flags;

  afterEach(() => flags.close());

  it('are a hundred names to every later read', async () => {
    flags = await createFlags({ storage: memoryStorage(), now: () => new Date(NOW) });
    const bucket = { start: NOW, stop: NOW };
    for (let index = 0; index < INVENTED / 10_000; index++) {
      const toggles = Object.fromEntries(names(10_000).map((name) => [`${name}-${index}`, { yes: 1, no: 0 }]));
      await flags.reportMetrics({ appName: 'page', bucket: { ...bucket, toggles } });
    }
    const begin = processorTime();
    expect((await flags.countEvaluations()).lastHour.size).toBe(100);
    expect((await flags.listSeenFlags())[0]?.flags.length).toBe(100);
    expect(processorTime() - begin).toBeLessThan(SHORT);
    expect(flags.status().dropped).toEqual({ names: INVENTED - 100, reports: 0 });
  });
});
