import Database from 'better-sqlite3';
import type { Storage } from '../../../src/storage/port.js';
import { sqliteStorage } from '../../../src/storage/sqlite/storage.js';
import { creation, flag } from '../samples.js';

const page = { order: 'newest-first', limit: 20 } as const;
const feed = { order: 'oldest-first', limit: 20 } as const;

const questions: readonly (readonly [string, (storage: Storage) => unknown])[] = [
  ['one document', (storage) => storage.get(flag('a'))],
  ['a list of all documents', (storage) => storage.list({ kind: 'flag', part: 'summary' })],
  ['a list under one parent', (storage) => storage.list({ kind: 'flag', parent: 'shop', part: 'body' })],
  ['a page of all documents', (storage) => storage.list({ kind: 'flag', part: 'summary', after: 'A', limit: 2 })],
  [
    'a page under one parent',
    (storage) => storage.list({ kind: 'flag', parent: 'shop', part: 'summary', after: 'A', limit: 2 }),
  ],
  ['a commit', (storage) => storage.commit({ ...creation('b'), vacant: [{ kind: 'flag', parent: 'lab' }] })],
  ['the feed from a position', (storage) => storage.events({ ...feed, after: '1' })],
  ['the newest events', (storage) => storage.events(page)],
  ['the events of a project', (storage) => storage.events({ ...page, filter: { project: 'shop' } })],
  ['the events of a document', (storage) => storage.events({ ...page, filter: { subject: flag('a') } })],
  ['the events of a change set', (storage) => storage.events({ ...feed, filter: { changeSet: 'a' } })],
  ['the events up to a position', (storage) => storage.events({ ...page, until: '1', filter: { subject: flag('a') } })],
  ['the events of a type', (storage) => storage.events({ ...page, filter: { type: 'created' } })],
];

describe('the SQLite storage', () => {
  it.each(questions)('answers %s without sorting and without reading what does not match', async (_, ask) => {
    const plans = await plansOf(ask);
    expect(plans.length).toBeGreaterThan(0);
    expect(plans.filter(isWasteful)).toEqual([]);
  });
});

describe('a page of a list in SQLite', () => {
  it.each([
    ['of all parents', { kind: 'flag' }],
    ['under one parent', { kind: 'flag', parent: 'shop' }],
  ])('begins where it was told, by an index, %s', async (_, place) => {
    const plans = await plansOf((storage) => storage.list({ ...place, part: 'summary', after: 'A', limit: 2 }));
    expect(plans.map(({ detail }) => detail)).toEqual([
      expect.stringMatching(/^SEARCH .* USING INDEX .*\(kind=\? AND .*id>\?\)$/),
    ]);
  });
});

interface Step {
  readonly query: string;
  readonly detail: string;
}

/** How SQLite goes about the queries that answer a question, step by step. */
async function plansOf(ask: (storage: Storage) => unknown): Promise<readonly Step[]> {
  const executed: string[] = [];
  const database = new Database(':memory:', { verbose: (sql) => executed.push(String(sql)) });
  const storage = await sqliteStorage({ database });
  await storage.commit(creation('a'));
  executed.length = 0;
  await ask(storage);
  const queries = executed.filter((sql) => sql.startsWith('SELECT'));
  const plans = queries.flatMap((query) => {
    const steps = database.prepare(`EXPLAIN QUERY PLAN ${query}`).all() as { readonly detail: string }[];
    return steps.map(({ detail }) => ({ query, detail }));
  });
  database.close();
  return plans;
}

/** Only a query without a condition has to scan. */
function isWasteful({ query, detail }: Step): boolean {
  return detail.includes('TEMP B-TREE') || (detail.startsWith('SCAN') && query.includes('WHERE'));
}
