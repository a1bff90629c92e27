import { extent } from '../../../../test/extent.js';
import { processorTime } from '../../../../test/processor-time.js';
import { LIMITS } from '../../src/base/limits.js';
import { createFlags, type Flags, type MetricsStorage, memoryMetrics, memoryStorage } from '../../src/index.js';
import type { UsageReport } from '../../src/storage/metrics-port.js';
import { type SqliteFile, sqliteFile } from './sqlite-file.js';

const NOW = Date.UTC(2030, 0, 15, 12, 0, 0);
const HOUR = 3_600_000;
const DAY = 86_400_000;

/** Three times what a slice may take, in milliseconds of processor time. */
const SHORT = 30;

function names(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `name-${1_000_000 + index}`);
}

function report(given: Partial<UsageReport>): UsageReport {
  return { application: 'shop', instance: { id: '1' }, at: NOW, stop: NOW, counts: [], ...given };
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
  let file: SqliteFile;
  let metrics: MetricsStorage;

  beforeEach(async () => {
    file = await sqliteFile();
    file.database.pragma('synchronous = OFF');
    const opened = file.open();
    opened.database.pragma('synchronous = OFF');
    metrics = opened.metrics;
  });
  afterEach(() => file.remove());

  /** What 0.1 stored of invented names, after the migration. */
  function storeInvented(count: number): void {
    const { database } = file;
    const second = NOW / 1000;
    const statements = [
      database.prepare(`INSERT INTO flags_counters VALUES (${second}, ?, 1, 0)`),
      database.prepare(`INSERT INTO flags_last_seen VALUES (?, ${NOW})`),
      database.prepare("INSERT INTO flags_usage_now VALUES ('shop', ?, '', 1, 0, 0, 0, NULL)"),
    ];
    database.transaction(() => {
      for (const name of names(count)) for (const statement of statements) statement.run(name);
    })();
  }

  it('pruning yields to the event loop after every slice', async () => {
    await metrics.record([report({ counts: [{ flag: 'checkout', yes: 1, no: 0 }] })]);
    storeInvented(50_000);
    const retention = { countersUntil: NOW, unseenSince: NOW + 1, isFlag: (name: string) => name === 'checkout' };
    const { count, common } = await turnsWithin(() => metrics.prune(retention));
    expect(count).toBeGreaterThan(150);
    expect(common).toBeLessThan(SHORT);
    expect(await metrics.usage()).toEqual([]);
    expect([...(await metrics.lastSeen(names(50_000))).keys()]).toEqual([]);
    expect([...(await metrics.lastSeen(['checkout'])).keys()]).toEqual(['checkout']);
  });

  it('counting yields to the event loop after every slice', async () => {
    storeInvented(1000);
    const { database } = file;
    const add = database.prepare('INSERT INTO flags_counters VALUES (?, ?, 1, 0)');
    database.transaction(() => {
      for (let second = 1; second <= 100; second++) for (const name of names(1000)) add.run(second, name);
    })();
    let counts: unknown;
    const { count, common } = await turnsWithin(async () => {
      counts = await metrics.counts({ after: 0 });
    });
    expect(counts).toEqual(names(1000).map((flag) => ({ flag, yes: 101, no: 0 })));
    expect(count).toBeGreaterThan(5);
    expect(common).toBeLessThan(3 * SHORT);
  });

  it('a crash in the middle of pruning leaves what the next call drops', async () => {
    storeInvented(5000);
    let asked = 0;
    const isFlag = () => {
      asked += 1;
      if (asked === 2000) throw new Error('injected fault');
      return false;
    };
    const retention = { countersUntil: NOW, unseenSince: NOW + DAY };
    await expect((async () => metrics.prune({ ...retention, isFlag }))()).rejects.toThrow('injected fault');
    await metrics.prune({ ...retention, isFlag: () => false });
    for (const table of ['counters', 'last_seen', 'usage_now']) {
      expect(file.database.prepare(`SELECT count(*) FROM flags_${table}`).pluck().get()).toBe(0);
    }
  });

  it('reads usage by flag in the order of an index', () => {
    for (const table of ['usage_now', 'unknown_names']) {
      const plan = file.database
        .prepare(
          `EXPLAIN QUERY PLAN SELECT application, flag, total(count) FROM flags_${table}
          WHERE (flag, application) > (?, ?) GROUP BY flag, application ORDER BY flag, application LIMIT ?`,
        )
        .all('a', 'b', 10) as { detail: string }[];
      expect(plan.map(({ detail }) => detail).join()).toMatch(/^SEARCH flags_\w+ USING (COVERING )?INDEX \w+_by_flag/);
      expect(plan).toHaveLength(1);
    }
  });
});

describe('timed usage in SQLite', () => {
  const FLAGS = 2000;
  let file: SqliteFile;
  let metrics: MetricsStorage;

  beforeEach(async () => {
    file = await sqliteFile();
    file.database.pragma('synchronous = OFF');
    const opened = file.open();
    opened.database.pragma('synchronous = OFF');
    metrics = opened.metrics;
    const counts = names(FLAGS).map((flag) => ({ flag, yes: 1, no: 0 }));
    for (let age = 9; age >= 0; age--) await metrics.record([report({ stop: NOW - age * HOUR, counts })]);
  });
  afterEach(() => file.remove());

  const retention = { countersUntil: 0, unseenSince: 0, isFlag: () => true };

  it('is read and pruned in slices that yield to the event loop', async () => {
    let read: readonly unknown[] = [];
    const reading = await turnsWithin(async () => {
      read = await metrics.timedUsage({ unit: 'hour', from: NOW - HOUR });
    });
    expect(read).toHaveLength(2 * FLAGS);
    // A slice reads at most a thousand rows, whatever the query selects.
    expect(reading.count).toBeGreaterThan(15);
    const pruning = await turnsWithin(() => metrics.prune({ ...retention, hoursBefore: NOW, daysBefore: NOW }));
    expect(pruning.count).toBeGreaterThan(30);
    expect(await metrics.timedUsage({ unit: 'hour', from: 0, limit: 1 })).toMatchObject([{ start: NOW }]);
  });

  it('is read by the index of the flag, application and environment', () => {
    const plan = file.database
      .prepare(
        `EXPLAIN QUERY PLAN SELECT flag, application, environment, start, yes FROM flags_usage_hours
        WHERE (flag, application, environment, start) > ('a', '', '', 0)
        UNION ALL SELECT flag, application, environment, hour AS start, yes FROM flags_usage_now
        WHERE (flag, application, environment) >= ('a', '', '')
        ORDER BY flag, application, environment, start LIMIT 10`,
      )
      .all() as { detail: string }[];
    const details = plan.map(({ detail }) => detail).join('\n');
    expect(details).toMatch(/SEARCH flags_usage_hours USING PRIMARY KEY/);
    expect(details).toMatch(/SEARCH flags_usage_now USING INDEX flags_usage_now_by_flag/);
  });

  it('drops the oldest rows beyond the limit, and counts them', async () => {
    const stored = () => file.database.prepare('SELECT min(start), count(*) FROM flags_usage_hours').raw().get();
    expect(stored()).toEqual([NOW - 9 * HOUR, 9 * FLAGS]);
    // As if other flags had the rest of the rows.
    const others = file.database.prepare("UPDATE flags_usage_rows SET count = count + ? WHERE name = 'usage_hours'");
    others.run(LIMITS.usageHourRows - 9 * FLAGS);
    const counts = names(FLAGS).map((flag) => ({ flag, yes: 1, no: 0 }));
    await metrics.record([report({ at: NOW + HOUR, stop: NOW + HOUR, counts })]);
    expect(stored()).toEqual([NOW - 8 * HOUR, 9 * FLAGS]);
    expect(metrics.dropped).toMatchObject({ names: 0, reports: 0, usage: FLAGS });
  });
});

describe('in memory', () => {
  it('timed usage has a bounded size, and drops the oldest rows', async () => {
    const metrics = memoryMetrics();
    const counts = names(10_000).map((flag) => ({ flag, yes: 1, no: 0 }));
    for (let age = 11; age >= 0; age--) await metrics.record([report({ stop: NOW - age * HOUR, counts })]);
    const stored = await metrics.timedUsage({ unit: 'hour', from: 0 });
    expect(stored).toHaveLength(LIMITS.usageRowsInMemory);
    expect(Math.min(...stored.map(({ start }) => start))).toBe(NOW - 9 * HOUR);
    expect(metrics.dropped.usage).toBe(20_000);
  });

  it('pruning yields to the event loop after every slice', async () => {
    const metrics = memoryMetrics();
    for (const flag of names(100_000)) await metrics.record([report({ counts: [{ flag, yes: 1, no: 0 }] })]);
    const { count } = await turnsWithin(() =>
      metrics.prune({ countersUntil: 0, unseenSince: NOW + 1, isFlag: () => false }),
    );
    expect(count).toBeGreaterThan(2);
    expect(await metrics.usage()).toEqual([]);
  });

  it('applications, their instances and their usage have a bounded size', async () => {
    const metrics = memoryMetrics();
    const strategies = Array.from({ length: 600 }, (_, index) => `${index}`.padEnd(100, 'x'));
    for (let index = 0; index < 1000; index++) {
      await metrics.register({ application: `app-${index}`, instance: { id: '1' }, at: NOW, strategies });
    }
    const stored = await metrics.applications({ seenSince: 0 });
    const length = stored.reduce((sum, one) => sum + one.strategies.join('').length, 0);
    expect(length).toBeGreaterThan(20_000_000);
    expect(length).toBeLessThan(32_000_000);
    expect(metrics.dropped.reports).toBeGreaterThan(0);
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
