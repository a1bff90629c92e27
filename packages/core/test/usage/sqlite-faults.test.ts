import { until } from '../../../../test/until.js';
import type { UsageReport } from '../../src/storage/metrics-port.js';
import { type SqliteFile, sqliteFile } from './sqlite-file.js';

const NOW = Date.UTC(2030, 0, 15, 12, 0, 0);

let file: SqliteFile;

beforeEach(async () => {
  file = await sqliteFile();
});

afterEach(async () => {
  await file.remove();
});

function report(application: string, ...flags: string[]): UsageReport {
  const counts = flags.map((flag) => ({ flag, yes: 1, no: 0 }));
  return { application, instance: { id: '1' }, at: NOW, stop: NOW, counts };
}

function rowsIn(table: string): unknown[] {
  return file.database.prepare(`SELECT * FROM flags_${table}`).all();
}

describe('metrics in SQLite', () => {
  it('leave nothing of a report that fails in its middle', async () => {
    const { metrics } = file.open();
    file.refuse('poison');
    await expect(metrics.record([report('shop', 'fine', 'poison')])).rejects.toMatchObject({
      message: 'injected fault',
    });
    for (const table of ['counters', 'last_seen', 'applications', 'instances', 'usage']) {
      expect(rowsIn(table)).toEqual([]);
    }
  });

  it('count the reports that came together with one that fails', async () => {
    const { metrics } = file.open();
    file.refuse('poison');
    const outcomes = await Promise.allSettled([
      metrics.record([report('first', 'checkout')]),
      metrics.record([report('failing', 'checkout', 'poison')]),
      metrics.record([report('last', 'checkout')]),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await metrics.counts({ after: 0 })).toEqual([{ flag: 'checkout', yes: 2, no: 0 }]);
    expect((await metrics.usage()).map(({ application }) => application)).toEqual(['first', 'last']);
  });

  it('write reports that come together by one statement per row', async () => {
    const { metrics } = file.open();
    file.database.exec(`
      CREATE TABLE writes (flag TEXT);
      CREATE TRIGGER noted BEFORE INSERT ON flags_counters BEGIN INSERT INTO writes VALUES (NEW.flag); END`);
    await Promise.all(Array.from({ length: 50 }, () => metrics.record([report('shop', 'checkout', 'banner')])));
    expect(file.database.prepare('SELECT flag FROM writes').pluck().all()).toEqual(['checkout', 'banner']);
    expect(await metrics.counts({ after: 0 })).toEqual([
      { flag: 'banner', yes: 50, no: 0 },
      { flag: 'checkout', yes: 50, no: 0 },
    ]);
  });

  it('give a report that comes while others wait for the lock the whole time to wait for it', async () => {
    const { metrics } = file.open(400);
    file.database.exec('BEGIN IMMEDIATE');
    const early = metrics.record([report('shop', 'early')]);
    const asked = performance.now();
    await until(() => performance.now() > asked + 200);
    const late = metrics.record([report('shop', 'late')]);
    await expect(early).rejects.toMatchObject({ code: 'storage_busy' });
    file.database.exec('ROLLBACK');
    await late;
    expect(await metrics.counts({ after: 0 })).toEqual([{ flag: 'late', yes: 1, no: 0 }]);
  });

  it('acknowledge a report only when other connections can read it', async () => {
    const { metrics } = file.open();
    const recorded = metrics.record([report('shop', 'checkout')]);
    expect(rowsIn('counters')).toEqual([]);
    await recorded;
    expect(rowsIn('counters')).toHaveLength(1);
  });

  it('leave the connection open when they are closed', async () => {
    const { metrics, database } = file.open();
    await metrics.close();
    expect(database.open).toBe(true);
  });

  it('give numbers where the host reads bigints by default', async () => {
    const { metrics, database } = file.open();
    database.defaultSafeIntegers(true);
    await metrics.record([report('shop', 'checkout')]);
    expect(await metrics.lastSeen(['checkout'])).toEqual(new Map([['checkout', NOW]]));
  });

  it('find every counter of a window in one range of the primary key', () => {
    const plan = file.database
      .prepare('EXPLAIN QUERY PLAN SELECT flag, total(yes) FROM flags_counters WHERE second > ? GROUP BY flag')
      .all(0) as { detail: string }[];
    expect(plan[0]?.detail).toContain('USING PRIMARY KEY (second>?)');
  });
});
