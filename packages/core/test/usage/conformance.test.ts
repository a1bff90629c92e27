import { memoryUsage } from '../../src/storage/memory/usage.js';
import type { UsageBatch, UsageStorage } from '../../src/storage/usage/port.js';
import { usageConformance } from './conformance/suite.js';
import { type UsageFile, usageFile } from './sqlite-file.js';

describe('memory', () => {
  usageConformance('memory', () => ({ usage: memoryUsage() }));
});

describe('sqlite', () => {
  usageConformance('SQLite', async () => {
    const file = await usageFile();
    return { usage: file.open().usage, again: () => file.open().usage, refuse: file.refuse, dispose: file.remove };
  });
});

describe('usage in SQLite', () => {
  const NOW = Date.UTC(2030, 0, 15, 12, 0, 0);

  let file: UsageFile;

  beforeEach(async () => {
    file = await usageFile();
  });
  afterEach(async () => {
    await file.remove();
  });

  function report(application: string, ...flags: string[]): UsageBatch {
    const counts = flags.map((flag) => ({ flag, yes: 1, no: 0 }));
    return { id: crypto.randomUUID(), at: NOW, reports: [{ application, instance: { id: '1' }, stop: NOW, counts }] };
  }

  async function countsIn(usage: UsageStorage) {
    return usage.sum({ resolution: 'minute', by: ['flag'] });
  }

  function rowsIn(table: string): unknown[] {
    return file.database.prepare(`SELECT * FROM flags_${table}`).all();
  }

  it('leaves nothing of a report that fails in its middle', async () => {
    const { usage } = file.open();
    file.refuse('poison');
    await expect(usage.record(report('shop', 'fine', 'poison'))).rejects.toMatchObject({
      message: 'injected fault',
    });
    for (const table of ['recent_counts', 'counts', 'last_seen', 'applications', 'instances', 'batches']) {
      expect(rowsIn(table)).toEqual([]);
    }
  });

  it('counts the reports that came together with one that fails', async () => {
    const { usage } = file.open();
    file.refuse('poison');
    const outcomes = await Promise.allSettled([
      usage.record(report('first', 'checkout')),
      usage.record(report('failing', 'checkout', 'poison')),
      usage.record(report('last', 'checkout')),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await countsIn(usage)).toEqual([{ flag: 'checkout', yes: 2, no: 0 }]);
    expect(
      (await usage.sum({ resolution: 'ever', by: ['application', 'flag'] })).map(({ application }) => application),
    ).toEqual(['first', 'last']);
  });

  it('acknowledges a report only when other connections can read it', async () => {
    const { usage } = file.open();
    const recorded = usage.record(report('shop', 'checkout'));
    expect(rowsIn('counts')).toEqual([]);
    await recorded;
    expect([rowsIn('recent_counts').length, rowsIn('counts').length]).toEqual([1, 3]);
  });

  it('deletes counts by second that a store holds, and sums none of them', async () => {
    const { usage } = file.open();
    file.database.exec(
      `INSERT INTO flags_recent_counts VALUES (0, 'checkout', '', '', ${NOW}, '', 1, 0, ${NOW}, 0, 0)`,
    );
    expect(await countsIn(usage)).toEqual([]);
    await usage.prune({ now: NOW + 60 * 60_000 });
    expect(rowsIn('recent_counts')).toHaveLength(1);
    await usage.prune({ now: NOW + 61 * 60_000 });
    expect(rowsIn('recent_counts')).toEqual([]);
  });

  it('leaves the connection open when it is closed', async () => {
    const { usage, database } = file.open();
    await usage.close();
    expect(database.open).toBe(true);
  });

  it('returns numbers where the host reads bigints by default', async () => {
    const { usage, database } = file.open();
    database.defaultSafeIntegers(true);
    await usage.record(report('shop', 'checkout'));
    expect(await usage.lastSeen(['checkout'])).toEqual(new Map([['checkout', NOW]]));
  });

  it('sums in the order of an index', async () => {
    const { usage, database } = file.open();
    const plans: string[] = [];
    const prepare = database.prepare.bind(database);
    database.prepare = (sql: string) => {
      const plan = prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...Array(sql.split('?').length - 1).fill(0));
      plans.push((plan as { detail: string }[]).map(({ detail }) => detail).join('\n'));
      return prepare(sql) as never;
    };
    const page = { flag: 'a', application: 'a', environment: '', start: 0, variant: '' };
    const periods = ['flag', 'application', 'environment', 'start', 'variant'] as const;
    for (const after of [undefined, page]) {
      const place = after && { after };
      await usage.sum({ resolution: 'minute', by: ['flag'], from: 5, limit: 9, ...place });
      await usage.sum({ resolution: 'ever', by: ['application', 'flag'], limit: 9, ...place });
      await usage.sum({ resolution: 'ever', by: ['flag', 'application'], limit: 9, ...place });
      await usage.sum({ resolution: 'hour', by: periods, from: 5, limit: 9, ...place });
      await usage.sum({ resolution: 'hour', by: periods, from: 5, limit: 9, flag: 'a', ...place });
    }
    expect(plans).toHaveLength(10);
    expect(
      plans.filter(
        (plan) => !/^SEARCH flags_(recent_)?counts USING (PRIMARY KEY|INDEX flags_counts_by_flag)/.test(plan),
      ),
    ).toEqual([]);
    expect(plans.filter((plan) => plan.includes('TEMP B-TREE'))).toEqual([]);
  });
});
