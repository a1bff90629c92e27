import fc from 'fast-check';
import { memoryStorage } from '../../src/storage/memory/storage.js';
import type { Commit, DocumentKey, DocumentWrite, Storage } from '../../src/storage/port.js';
import { sqliteStorage } from '../../src/storage/sqlite/storage.js';
import { happened } from './samples.js';

const ids = fc.constantFrom('a', '\ufffd', '\u{1f600}', '__proto__');
const parents = fc.constantFrom('shop', 'lab');
const kinds = fc.constantFrom('flag', 'project');
const keys = fc.record<DocumentKey>({ kind: kinds, id: ids });
const revisions = fc.integer({ min: 0, max: 4 });

const writes: fc.Arbitrary<DocumentWrite> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .record({
        key: keys,
        expected: revisions,
        parent: fc.option(parents),
        body: fc.jsonValue(),
        summary: fc.jsonValue(),
        hasText: fc.boolean(),
      })
      .map(({ hasText, ...put }) => (hasText ? { ...put, text: JSON.stringify(put.body) } : put)),
  },
  { weight: 1, arbitrary: fc.record({ key: keys, expected: revisions, deleted: fc.constant(true as const) }) },
);

const commits: fc.Arbitrary<Commit> = fc
  .record({
    steps: fc.uniqueArray(writes, { maxLength: 3, selector: ({ key }) => `${key.kind} ${key.id}` }),
    checked: fc.nat({ max: 1 }),
    vacant: fc.array(fc.record({ kind: kinds, parent: parents }), { maxLength: 1 }),
  })
  .map(({ steps, checked, vacant }) => ({
    writes: steps.slice(checked),
    checks: steps.slice(0, checked).map(({ key, expected }) => ({ key, expected })),
    vacant,
    events: steps.slice(checked).map(({ key }) => ({ ...happened(key.id), subject: key })),
  }));

/** Everything a storage answers to a history of commits. */
async function answers(storage: Storage, history: readonly Commit[]): Promise<unknown> {
  const results: unknown[] = [];
  for (const commit of history) results.push(await storage.commit(commit));
  const lists = [];
  for (const kind of ['flag', 'project']) {
    lists.push(
      await storage.list({ kind, part: 'body' }),
      await storage.list({ kind, parent: 'shop', part: 'summary' }),
      await storage.list({ kind, part: 'summary', after: 'a', limit: 2 }),
      await storage.list({ kind, parent: 'shop', part: 'body', after: '\ufffd', limit: 1 }),
    );
  }
  const log = await storage.events({
    order: 'newest-first',
    filter: { subject: { kind: 'flag', id: 'a' } },
    limit: 3,
    total: true,
  });
  const feed = await storage.events({ order: 'oldest-first', limit: 1000, total: true });
  await storage.close();
  return { results, lists, log, feed };
}

describe('memoryStorage and sqliteStorage', () => {
  it('answer alike to any history of commits', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(commits, { maxLength: 25 }), async (history) => {
        const expected = await answers(memoryStorage(), history);
        expect(await answers(await sqliteStorage(':memory:'), history)).toEqual(expected);
      }),
    );
  });
});
