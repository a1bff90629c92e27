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
  ['a commit', (storage) => storage.commit({ ...creation('b'), vacant: [{ kind: 'flag', parent: 'lab' }] })],
  ['the feed from a position', (storage) => storage.events({ ...feed, after: '1' })],
  ['the newest events', (storage) => storage.events(page)],
  ['the events of a project', (storage) => storage.events({ ...page, filter: { project: 'shop' } })],
  ['the events of a document', (storage) => storage.events({ ...page, filter: { subject: flag('a') } })],
  ['the events of a type', (storage) => storage.events({ ...page, filter: { type: 'created' } })],
];

describe('the SQLite storage', () => {
  it.each(questions)('answers %s without sorting and without reading what does not match', async (_, ask) => {
    const executed: string[] = [];
    const database = new Database(':memory:', { verbose: (sql) => executed.push(String(sql)) });
    const storage = await sqliteStorage({ database });
    await storage.commit(creation('a'));
    executed.length = 0;
    await ask(storage);
    const queries = executed.filter((sql) => sql.startsWith('SELECT'));
    expect(queries.length).toBeGreaterThan(0);
    for (const query of queries) {
      const plan = database.prepare(`EXPLAIN QUERY PLAN ${query}`).all() as { readonly detail: string }[];
      expect(plan.filter(({ detail }) => isWasteful(query, detail))).toEqual([]);
    }
    database.close();
  });
});

/** Only a query without a condition has to scan. */
function isWasteful(query: string, step: string): boolean {
  return step.includes('TEMP B-TREE') || (step.startsWith('SCAN') && query.includes('WHERE'));
}
