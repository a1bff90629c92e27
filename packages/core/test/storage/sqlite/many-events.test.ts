import { fork } from 'node:child_process';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { extent } from '../../../../../test/extent.js';
import { type Flags, openFlags } from '../../../src/index.js';
import { sqliteStorage } from '../../../src/sqlite.js';
import type { EventFilter, FlagsStorage, StoredEventQuery } from '../../../src/storage/port.js';
import { DEFAULT } from '../../references.js';
import { flag } from '../samples.js';
import { temporaryDirectory } from '../temporary-directory.js';
import { bundle, nextMessage } from './child-program.js';

const EVENTS = extent({ short: 20_000, full: 1_000_000 });
/** Less than half of the size of the full form's events as text. */
const HEAP_OF_READER = 64;

const directory = temporaryDirectory();
const path = join(directory.path, 'flags.db');
let executed: string[] = [];
let database: Database.Database;
let storage: FlagsStorage;
/** It existed before them. */
let early: Flags;

beforeAll(async () => {
  early = await openFlags({ storage: sqliteStorage(path), usage: { interval: 0 }, pollInterval: 0 });
  fill();
  database = new Database(path, { verbose: (sql) => executed.push(String(sql)) });
  storage = await sqliteStorage({ database });
});

afterAll(async () => {
  await early.close();
  await storage.close();
  database.close();
  directory.remove();
});

/**
 * One event every ten seconds from 2024 on. Most are of the project `default`, a hundredth of `small`, a few of `rare`,
 * of a thousand flags and four types.
 */
function fill(): void {
  const filling = new Database(path);
  filling.exec(`
    WITH RECURSIVE numbers(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM numbers WHERE i + 1 < ${EVENTS})
    INSERT INTO flags_events (type, at, actor, subject_kind, subject_id, revision, project, environment, data, before, change_id)
    SELECT
      CASE WHEN i % 2000 = 7 THEN 'flag-archived' WHEN i % 2 THEN 'environment-enabled' ELSE 'environment-disabled' END,
      strftime('%Y-%m-%dT%H:%M:%fZ', 1704067200 + i * 10, 'unixepoch'),
      'ada', 'flag', 'flag-' || (i % 1000), 1 + i / 1000,
      CASE WHEN i % 2000 = 3 THEN 'rare' ELSE 'default' END,
      'production', '{"enabled":true}', '{"enabled":false}', 'c' || i
    FROM numbers`);
  filling.close();
}

/** The query plans of all statements that ran meanwhile. */
async function plansOf(work: () => unknown): Promise<string[]> {
  executed = [];
  await work();
  const queries = executed.filter((sql) => sql.startsWith('SELECT') && sql.includes('flags_events'));
  return queries.flatMap((sql) => {
    const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { readonly detail: string }[];
    return steps.map(({ detail }) => detail);
  });
}

const page: StoredEventQuery = { order: 'newest-first', limit: 100 };
const NARROW = { from: '2024-01-02T00:00:00.000Z', to: '2024-01-02T00:30:00.000Z' };

/** A filter, and the index that finds its events without reading many others. */
const FILTERS: readonly (readonly [name: string, filter: EventFilter, step: string])[] = [
  ['a project', { project: 'default' }, 'events_by_project (project=?)'],
  ['a type', { type: 'flag-archived' }, 'events_by_type (type=?)'],
  ['a flag', { subject: flag('flag-3') }, 'events_by_subject (subject_kind=? AND subject_id=?)'],
  ['a type in a project', { project: 'default', type: 'flag-archived' }, 'events_by_type (type=?)'],
  ['a small project by type', { project: 'rare', type: 'environment-enabled' }, 'events_by_project (project=?)'],
  ['a flag of a project', { project: 'default', subject: flag('flag-4') }, 'events_by_subject (subject_kind=?'],
  ['a flag by type', { subject: flag('flag-4'), type: 'environment-enabled' }, 'events_by_subject (subject_kind=?'],
  ['half an hour', NARROW, 'events_by_time (at>? AND at<?)'],
  [
    'half an hour of a project',
    { ...NARROW, project: 'default' },
    'events_by_project (project=? AND rowid>? AND rowid<?)',
  ],
  [
    'half an hour of a type',
    { ...NARROW, type: 'environment-enabled' },
    'events_by_type (type=? AND rowid>? AND rowid<?)',
  ],
  ['the first hour ever', { to: '2024-01-01T01:00:00.000Z' }, 'events_by_time (at>? AND at<?)'],
];

describe(`${EVENTS} events`, () => {
  it.each(FILTERS)('are searched for %s by the matching index', async (_, filter, index) => {
    const plans = await plansOf(() => storage.events({ ...page, filter }));
    expect(plans.at(index.includes('by_time') ? -2 : -1)).toContain(index);
    expect(plans.filter((step) => step.startsWith('SCAN flags_events'))).toEqual([]);
  });

  it.each(FILTERS)('are listed by %s with the same items and total as a full read', async (_, filter) => {
    const { events, total } = await storage.events({ ...page, filter, total: true });
    const { subject, type = null, project = null, from = '', to = 'Z' } = filter;
    const all = database
      .prepare(
        `SELECT position FROM flags_events WHERE (subject_id = @id OR @id IS NULL) AND (type = @type OR @type IS NULL)
        AND (project = @project OR @project IS NULL) AND at BETWEEN @from AND @to ORDER BY position DESC`,
      )
      .pluck()
      .all({ id: subject?.id ?? null, type, project, from, to });
    expect(total).toBe(all.length);
    expect(events.map(({ position }) => position)).toEqual(all.slice(0, 100).map(String));
  });

  it('are read over a long time from the newest on, without sorting', async () => {
    const filter = { from: '2000-01-01T00:00:00.000Z', to: '2090-01-01T00:00:00.000Z' };
    const plans = await plansOf(() => storage.events({ ...page, filter }));
    expect(plans.at(-1)).toBe('SEARCH flags_events USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)');
  });

  it('are followed from any position without a read of earlier ones', async () => {
    const after = String(EVENTS / 2);
    const plans = await plansOf(() => storage.events({ order: 'oldest-first', limit: 100, after }));
    expect(plans).toEqual(['SEARCH flags_events USING INTEGER PRIMARY KEY (rowid>?)']);
  });

  it('cost opening and a change no further queries, and no search through them', async () => {
    const few = await asked(':memory:');
    const many = await asked(path);
    expect(many).toEqual(few);
  });

  it('let a process run other work while a listener receives them', async () => {
    const { events } = await storage.events({ ...page, limit: 1 });
    const turns = await turnsDuring(
      new Promise<void>((resolve) => {
        const hear = ({ position }: { readonly position: string }) => {
          if (position === events[0]?.position) resolve();
        };
        early.subscribe(hear, { after: '1' });
      }),
    );
    expect(turns).toBeGreaterThanOrEqual(EVENTS / 200 - 1);
  });

  it('yield to the event loop while a process reads changes of other processes', async () => {
    expect(await turnsDuring(early.refresh())).toBeGreaterThanOrEqual(EVENTS / 500 - 1);
    expect(early.status().state).toBe('current');
  });

  it('reach a listener completely in a process with little memory', async () => {
    const { file, env } = bundle(join(__dirname, 'children/feed-reader.ts'), directory.path);
    const child = fork(file, [path], { env, execArgv: [`--max-old-space-size=${HEAP_OF_READER}`] });
    const { total } = await storage.events({ ...page, total: true });
    expect(await nextMessage(child)).toBe((total ?? 0) - 1);
    child.kill('SIGKILL');
  });
});

/** The number of turns of the event loop before a promise was resolved. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  void work.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await setImmediate();
    turns += 1;
  }
  await work;
  return turns;
}

/** The reads of events when an engine opens and makes one change. */
async function asked(file: string): Promise<string[]> {
  const statements: string[] = [];
  const handle = new Database(file, { verbose: (sql) => statements.push(String(sql)) });
  if (file === ':memory:') await (await openFlags({ storage: sqliteStorage({ database: handle }) })).close();
  statements.length = 0;
  const flags = await openFlags({
    storage: sqliteStorage({ database: handle }),
    pollInterval: 0,
    usage: { interval: 0 },
  });
  await flags.createFlag(DEFAULT, { name: `new-${process.hrtime.bigint()}` });
  await flags.close();
  handle.close();
  const ofEvents = statements.filter((sql) => sql.includes('flags_events'));
  return ofEvents.map((sql) => sql.replace(/VALUES.*/s, 'VALUES').replace(/position > \d+\.0/, 'position > ?'));
}
