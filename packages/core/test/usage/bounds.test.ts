import { extent } from '../../../../test/extent.js';
import { isWithin, processorTime } from '../../../../test/processor-time.js';
import { LIMITS } from '../../src/base/limits.js';
import { startUsageRecorder } from '../../src/features/usage/usage-recorder.js';
import { createUsageWriter } from '../../src/features/usage/usage-writer.js';
import { type Flags, memoryStorage, openFlags } from '../../src/index.js';
import { memoryUsage } from '../../src/storage/memory/usage.js';
import type { DroppedUsage, UsageBatch, UsageReport, UsageStorage } from '../../src/storage/usage/port.js';
import { NOTHING_DROPPED } from '../../src/storage/usage/rules.js';
import { observedPruning } from './observed-pruning.js';
import { type UsageFile, usageFile } from './sqlite-file.js';

describe('the bounds of stored usage', () => {
  const NOW = Date.UTC(2030, 0, 15, 12, 0, 0);

  /** Invented names that a pruning drops. */
  const STORED = extent({ short: 10_000, full: 50_000 });

  const HOUR = 3_600_000;
  const DAY = 86_400_000;

  /** Three times the limit of a slice, in milliseconds of processor time. */
  const SHORT = 30;

  function names(count: number): string[] {
    return Array.from({ length: count }, (_, index) => `name-${1_000_000 + index}`);
  }

  async function record(usage: UsageStorage, given: Partial<UsageReport>, at = NOW) {
    const report = { application: 'shop', instance: { id: '1' }, stop: NOW, counts: [], ...given };
    return usage.record({ id: crypto.randomUUID(), at, reports: [report] });
  }

  /** The number of turns of the event loop, and the typical processor time of one, in milliseconds. */
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
    return { count: delays.length, common: delays[Math.floor(delays.length * 0.9)] ?? 0 };
  }

  /**
   * The typical processor time of a turn in the best of three attempts, each of more than `turns` turns. The others are left
   * out: work that takes long by itself is long in each of them, and a busy machine is not.
   */
  async function shortestCommonTurn(
    turns: number,
    prepare: () => () => PromiseLike<unknown> | unknown,
  ): Promise<number> {
    let shortest = Number.POSITIVE_INFINITY;
    for (let attempts = 0; attempts < 3 && shortest >= SHORT; attempts++) {
      const { count, common } = await turnsWithin(prepare());
      expect(count).toBeGreaterThan(turns);
      shortest = Math.min(shortest, common);
    }
    return shortest;
  }

  it('lets other work run between the parts of the counts of this process', async () => {
    let parts = 0;
    const usage: UsageStorage = {
      ...memoryUsage(),
      record() {
        parts++;
        const end = performance.now() + 6;
        while (performance.now() < end);
        return NOTHING_DROPPED;
      },
    };
    const onError = (error: unknown) => {
      throw error;
    };
    const about = { now: () => new Date(NOW), onError };
    const recorder = startUsageRecorder({
      ...about,
      ...{ application: 'web', instance: 'web-1', strategies: [], interval: 0 },
      writer: createUsageWriter({ ...about, usage, isFlag: () => true, retention: 1e12 }),
      drain: () => names(6000).map((flag) => ({ flag, environment: 'production', yes: 1, no: 0 })),
    });
    const { count } = await turnsWithin(() => recorder.flush());
    expect(parts).toBeGreaterThan(10);
    expect(count).toBeGreaterThanOrEqual(parts);
    await recorder.close();
  });

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

    /** Stores counts of names that no flag has. */
    function storeInvented(count: number): void {
      const { database } = file;
      const statements = [
        database.prepare(`INSERT INTO flags_recent_counts VALUES (1, ?, '', '', ${NOW}, '', 1, 0, ${NOW}, 0, 0)`),
        database.prepare(`INSERT INTO flags_counts VALUES (4, ?, 'shop', '', 0, '', 1, 0, ${NOW}, 0, 0)`),
        database.prepare(`INSERT INTO flags_last_seen VALUES (?, ${NOW})`),
      ];
      database.transaction(() => {
        for (const name of names(count)) for (const statement of statements) statement.run(name);
      })();
    }

    it('yields to the event loop after every slice of pruning', async () => {
      await record(usage, { counts: [{ flag: 'checkout', yes: 1, no: 0 }] });
      const unseen = { since: NOW + 1, isFlag: (name: string) => name === 'checkout' };
      const common = await shortestCommonTurn(STORED / 500, () => {
        storeInvented(STORED);
        return () => usage.prune({ now: NOW + HOUR, unseen });
      });
      expect(common).toBeLessThan(SHORT);
      expect(await usage.sum({ resolution: 'ever', by: ['flag'] })).toEqual([]);
      expect([...(await usage.lastSeen(['checkout', ...names(STORED)])).keys()]).toEqual(['checkout']);
    });

    it('resumes pruning after a crash in the middle', async () => {
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
      for (const table of ['recent_counts', 'counts', 'last_seen']) {
        expect(file.database.prepare(`SELECT count(*) FROM flags_${table}`).pluck().get()).toBe(0);
      }
    });

    it('yields to the event loop while it deletes a flag of many hours', async () => {
      const common = await shortestCommonTurn(50, () => {
        file.database.exec(`
        INSERT INTO flags_counts
        WITH RECURSIVE hours(number) AS (SELECT 0 UNION ALL SELECT number + 1 FROM hours WHERE number < 49999)
        SELECT 2, 'checkout', 'app-' || number, '', ${NOW}, '', 1, 0, ${NOW}, 0, 0 FROM hours`);
        return () => usage.forget({ flags: ['checkout'] });
      });
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
    it('limits usage over time, and drops the oldest rows, also between prunings', async () => {
      const usage = memoryUsage();
      const most = 0.15 * LIMITS.usageRowsInMemory;
      const counts = names(most / 5).map((flag) => ({ flag, yes: 1, no: 0 }));
      const dropped: DroppedUsage[] = [];
      for (let age = 7; age >= 0; age--) dropped.push(await record(usage, { stop: NOW - age * HOUR, counts }));
      const stored = () => usage.sum({ resolution: 'hour', by: ['flag', 'start'] });
      expect((await stored()).length).toBeLessThanOrEqual(1.25 * most);
      dropped.push(await usage.prune({ now: NOW }));
      expect(dropped.reduce((sum, one) => sum + one.usage, 0)).toBeGreaterThan(0);
      expect(await stored()).toHaveLength(most);
      expect(Math.min(...(await stored()).map(({ start }) => start))).toBe(NOW - 4 * HOUR);
    });

    it('limits instances and registrations', async () => {
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
      expect(instances).toBeLessThanOrEqual(20_000);
      expect(text).toBeGreaterThan(3_600_000);
      expect(text).toBeLessThanOrEqual(4_194_304);
      expect(stored.map(({ name }) => name)).toContain('shop');
    });
  });

  const INVENTED = extent({ short: 20_000, full: 1_000_000 });

  describe(`${INVENTED} invented names`, () => {
    let flags: Flags;

    afterEach(() => flags.close());

    it('are reduced to a hundred names for every later read', async () => {
      flags = await openFlags({ storage: memoryStorage(), now: () => new Date(NOW) });
      const period = { start: NOW, stop: NOW };
      for (let index = 0; index < INVENTED / 10_000; index++) {
        const counts = Object.fromEntries(names(10_000).map((name) => [`${name}-${index}`, { yes: 1, no: 0 }]));
        await flags.reportMetrics({ application: 'page', ...period, counts });
      }
      const read = async () => {
        expect((await flags.usage.count()).lastHour.size).toBe(100);
        expect((await flags.usage.listSeenFlags()).items[0]?.flags.length).toBe(100);
      };
      expect(await isWithin(SHORT, read)).toBe(true);
      expect(flags.status().dropped).toEqual({ names: INVENTED - 100, reports: 0 });
    });
  });
});

describe('the retention of usage', () => {
  const MINUTE = 60_000;
  const HOUR = 60 * MINUTE;
  const DAY = 24 * HOUR;

  /** An engine with a clock that is set, and the real usage it prunes. */
  async function running(usage: UsageStorage = memoryUsage()) {
    let time = Date.parse('2026-03-01T00:00:00.000Z');
    const { pruned, ended, ...observed } = observedPruning(usage);
    const errors: unknown[] = [];
    const options = {
      now: () => new Date(time),
      usage: { retention: 2 * DAY },
      onError: (e: unknown) => errors.push(e),
    };
    const flags = await openFlags({ storage: { ...memoryStorage(), ...observed }, ...options });
    /** Reports, and waits for the pruning that reporters do not wait for. */
    const report = async (application: string) => {
      const at = new Date(time).toISOString();
      const counts = { checkout: { yes: 1, no: 0 } };
      await flags.reportMetrics({ application, start: at, stop: at, counts });
      await ended();
    };
    return { flags, report, pruned, errors, now: () => time, advance: (span: number) => (time += span) };
  }

  it('prunes with the first report of a process, and with the first after every minute', async () => {
    const { report, pruned, now, advance } = await running();
    await Promise.all([report('web'), report('web')]);
    const unseen = { since: now() - 2 * DAY, isFlag: expect.any(Function) };
    expect(pruned).toEqual([{ now: now(), unseen }]);
    advance(MINUTE - 1);
    await report('web');
    expect(pruned).toHaveLength(1);
    advance(1);
    await Promise.all([report('web'), report('web')]);
    expect(pruned.slice(1)).toEqual([{ now: now() }]);
  });

  it('prunes names that were not seen for long once an hour', async () => {
    const { report, pruned, now, advance } = await running();
    await report('web');
    advance(HOUR - 1);
    await report('web');
    advance(MINUTE);
    await report('web');
    expect(pruned.map(({ unseen }) => unseen?.since)).toEqual([
      now() - HOUR + 1 - MINUTE - 2 * DAY,
      undefined,
      now() - 2 * DAY,
    ]);
  });

  it('prunes after many counts, at any time', async () => {
    const pruned: unknown[] = [];
    const usage: UsageStorage = { ...memoryUsage(), record: () => NOTHING_DROPPED };
    const writer = createUsageWriter({
      usage: {
        ...usage,
        prune(retention) {
          pruned.push(retention);
          return NOTHING_DROPPED;
        },
      },
      isFlag: () => true,
      now: () => new Date(0),
      retention: DAY,
      onError: () => undefined,
    });
    const counts = Array.from({ length: 10_000 }, (_, index) => ({ flag: `flag-${index}`, yes: 1, no: 0 }));
    const report = { application: 'web', instance: { id: '1' }, stop: 0, counts };
    for (let reports = 0; reports < 6; reports++) {
      await writer.record([{ id: `${reports}`, at: 0, reports: [report] }]);
      await writer.prune();
    }
    expect(pruned).toHaveLength(2);
  });

  it('lets no reporter wait, prunes once at a time, and ends before the storage is closed', async () => {
    const usage = memoryUsage();
    const order: string[] = [];
    let release: (() => void) | undefined;
    const slow: UsageStorage = {
      ...usage,
      async prune(limits) {
        order.push('begun');
        await new Promise<void>((resolve) => (release = resolve));
        order.push('ended');
        return usage.prune(limits);
      },
    };
    let time = Date.parse('2026-03-01T00:00:00.000Z');
    const storage = memoryStorage();
    const close = async () => {
      order.push('closed');
      await storage.close();
    };
    const flags = await openFlags({ storage: { ...storage, usage: slow, close }, now: () => new Date(time) });
    const report = { application: 'web', start: '2026-03-01T00:00:00Z', stop: '2026-03-01T00:00:00Z', counts: {} };
    await flags.reportMetrics(report);
    time += HOUR;
    await flags.reportMetrics(report);
    expect(order).toEqual(['begun']);
    const closing = flags.close();
    release?.();
    await closing;
    expect(order).toEqual(['begun', 'ended', 'closed']);
  });

  it('drops applications that were not seen for as long as configured', async () => {
    const { flags, report, advance } = await running();
    await report('old');
    advance(2 * DAY);
    await report('web');
    expect((await flags.applications.get({ application: 'old' })).name).toBe('old');
    advance(HOUR);
    await report('web');
    await expect(flags.applications.get({ application: 'old' })).rejects.toMatchObject({
      code: 'application_not_found',
    });
    expect((await flags.applications.get({ application: 'web' })).name).toBe('web');
  });

  it('keeps the reports on existing flags', async () => {
    const { flags, report, pruned } = await running();
    await flags.createFlag({ project: 'default' }, { name: 'checkout' });
    await flags.createFlag({ project: 'default' }, { name: 'archived' });
    await flags.archiveFlag({ project: 'default', flag: 'archived' });
    await report('web');
    expect(['checkout', 'archived', 'unknown'].map((name) => pruned[0]?.unseen?.isFlag(name))).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('accepts reports even when pruning fails, and notifies the host', async () => {
    const fault = new Error('disk');
    const { flags, report, errors } = await running({
      ...memoryUsage(),
      prune: () => Promise.reject(fault),
    });
    await report('web');
    expect(errors).toEqual([fault]);
    expect((await flags.usage.listSeenFlags()).items).toMatchObject([{ application: 'web', evaluations: 1 }]);
  });
});

describe('the recording of reports', () => {
  const [start, stop] = ['2030-01-15T11:59:00Z', '2030-01-15T12:00:00Z'];
  const now = () => new Date('2030-01-15T12:00:00.500Z');
  const PROJECT = { project: 'default' };

  /** The counts and registrations of each call of `record`. */
  interface Part {
    readonly counts: number;
    readonly registrations: number;
  }

  let stored: UsageStorage;
  let usage: UsageStorage;
  let parts: Part[];
  let failAt: number;
  let flags: Flags;

  beforeEach(async () => {
    stored = memoryUsage();
    parts = [];
    failAt = Number.POSITIVE_INFINITY;
    usage = {
      ...stored,
      record(batch: UsageBatch) {
        const { reports = [], registrations = [] } = batch;
        if (parts.length >= failAt) throw new Error('the disk is full');
        const counts = reports.reduce((sum, report) => sum + report.counts.length, 0);
        parts.push({ counts, registrations: registrations.length });
        return stored.record(batch);
      },
    };
    flags = await openFlags({ storage: { ...memoryStorage(), usage }, usage: { interval: 0 }, now });
  });
  afterEach(() => flags.close());

  async function createFlagsNamed(count: number): Promise<string[]> {
    const names = Array.from({ length: count }, (_, index) => `flag-${1000 + index}`);
    for (let first = 0; first < count; first += 500) {
      const changes = names.slice(first, first + 500).map((name) => {
        return { op: 'createFlag' as const, ref: PROJECT, input: { name } };
      });
      await flags.apply(changes);
    }
    return names;
  }

  function countsOf(names: readonly string[]) {
    return Object.fromEntries(names.map((name) => [name, { yes: 2, no: 1 }]));
  }

  it('stores a report of many flags in parts, and answers when all are stored', async () => {
    const names = await createFlagsNamed(1200);
    const counted = countsOf([...names, 'invented']);
    await flags.reportMetrics({ application: 'web', start, stop, counts: counted });
    expect(parts.length).toBe(3);
    expect(Math.max(...parts.map(({ counts }) => counts))).toBeLessThanOrEqual(500);
    const { lastHour } = await flags.usage.count();
    expect(lastHour.size).toBe(1201);
    expect(new Set([...lastHour.values()].map(({ yes, no }) => `${yes} ${no}`))).toEqual(new Set(['2 1']));
    expect((await flags.usage.listSeenFlags()).items[0]?.evaluations).toBe(3 * 1201);
  });

  it('stores a small report and a small batch by one call', async () => {
    const names = await createFlagsNamed(400);
    const period = { start, stop, counts: countsOf(names) };
    await flags.reportMetrics({ application: 'web', ...period });
    await flags.reportMetricsInBulk({
      registrations: [{ application: 'web', strategies: ['default'] }],
      reports: [{ application: 'web', ...period }],
    });
    expect(parts).toEqual([
      { counts: 400, registrations: 0 },
      { counts: 400, registrations: 1 },
    ]);
  });

  it('stores a batch of many applications in parts, the registrations first', async () => {
    const applications = Array.from({ length: 1000 }, (_, index) => `app-${1000 + index}`);
    await flags.reportMetricsInBulk({
      registrations: applications.map((application) => ({
        application,
        strategies: ['default'],
      })),
      reports: applications.map((application) => ({ application, start, stop, counts: {} })),
    });
    expect(parts.map(({ registrations }) => registrations)).toEqual([...Array(10).fill(100), ...Array(10).fill(0)]);
    expect((await flags.applications.list()).items.length).toBe(1000);
  });

  it('keeps the counts of this process that follow a failed part, and counts none twice', async () => {
    const names = Array.from({ length: 1200 }, (_, index) => `flag-${1000 + index}`);
    const pending = names.map((flag) => ({ flag, environment: 'production', yes: 1, no: 0 }));
    const recorder = startUsageRecorder({
      writer: createUsageWriter({
        usage,
        isFlag: () => true,
        now,
        retention: 1e12,
        onError: () => undefined,
      }),
      now,
      ...{ application: 'web', instance: 'web-1', strategies: [], interval: 0 },
      drain: () => pending.splice(0),
      onError: () => undefined,
    });
    const countsOf = async () => stored.sum({ resolution: 'minute', by: ['flag'] });
    // The first one stores the application and a part of the counts.
    failAt = 1;
    await recorder.flush();
    expect((await countsOf()).length).toBe(490);
    failAt = Number.POSITIVE_INFINITY;
    await recorder.close();
    expect(await countsOf()).toEqual(names.map((flag) => ({ flag, yes: 1, no: 0 })));
  });

  it('refuses a report that counts more variants of a flag than a flag may have', async () => {
    const variants = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`v${index}`, 1]));
    const report = (count: number) => {
      const counted = { checkout: { yes: 1, no: 0, variants: variants(count) } };
      return flags.reportMetrics({ application: 'web', start, stop, counts: counted });
    };
    await report(2000);
    const path = '/counts/checkout/variants';
    await expect(report(2001)).rejects.toMatchObject({ code: 'invalid_input', details: [{ path }] });
    expect(parts.length).toBe(1);
  });
});
