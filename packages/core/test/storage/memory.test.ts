import fc from 'fast-check';
import { compareCodePoints } from '../../src/base/collections.js';
import type { Flags } from '../../src/flags.js';
import { openFlags } from '../../src/open-flags.js';
import { prepareCommit } from '../../src/storage/commit.js';
import { memoryStorage } from '../../src/storage/memory/storage.js';
import type { Commit, DocumentKey, DocumentWrite, FlagsStorage } from '../../src/storage/port.js';
import { sqliteStorage } from '../../src/storage/sqlite/storage.js';
import { usageOf } from '../../src/storage/usage/port.js';
import { storageConformance } from '../../src/testing/storage/conformance.js';
import { newEvent, put } from './samples.js';

describe('memory', () => {
  storageConformance('memoryStorage', () => ({ storage: memoryStorage() }));

  describe('memoryStorage', () => {
    it('refuses every call after it was closed', async () => {
      const storage = memoryStorage();
      await storage.close();
      const closed = { name: 'FlagsError', code: 'closed' };
      await expect(storage.get({ kind: 'flag', id: 'a' })).rejects.toMatchObject(closed);
      await expect(storage.list({ kind: 'flag', part: 'body' })).rejects.toMatchObject(closed);
      await expect(storage.commit({ writes: [], events: [] })).rejects.toMatchObject(closed);
      await expect(storage.events({ order: 'oldest-first', limit: 1 })).rejects.toMatchObject(closed);
    });

    it('keeps its documents when callers change what they wrote or read', async () => {
      const storage = memoryStorage();
      const key = { kind: 'flag', id: 'a' };
      const body = { list: [1] };
      const summary = { list: [1] };
      await storage.commit({ writes: [{ key, parent: null, expected: 0, body, summary }], events: [] });
      const read = async () => (await storage.get(key))?.body as typeof body;
      const list = async (part: 'body' | 'summary') =>
        (await storage.list({ kind: 'flag', part })).map(({ content }) => content as typeof body);
      for (const one of [body, summary, await read(), ...(await list('body')), ...(await list('summary'))]) {
        one.list.push(2);
      }
      expect([await read(), ...(await list('body')), ...(await list('summary'))]).toEqual(Array(3).fill({ list: [1] }));
    });

    it('gives evaluation documents of its own', async () => {
      const storage = memoryStorage();
      const flags = await openFlags({ storage });
      const constraint = { contextName: 'userId', operator: 'IN' as const, values: ['7'] };
      const place = { project: 'default', flag: 'checkout', environment: 'production' };
      await flags.createFlag(place, { name: 'checkout' });
      await flags.addStrategy(place, { name: 'default', constraints: [constraint] });
      constraint.values.push('8');
      const [strategy] = (await flags.getFlag(place)).environments.flatMap(({ strategies }) => strategies);
      Object.assign(strategy?.constraints[0] ?? {}, { values: ['8'] });
      await flags.enable(place);
      const ask = (one: Flags) => [
        one.isEnabled('checkout', { userId: '7' }),
        one.isEnabled('checkout', { userId: '8' }),
      ];
      expect(ask(flags)).toEqual([true, false]);
      expect(ask(await openFlags({ storage }))).toEqual([true, false]);
      await flags.close();
    });

    it('returns results of changes that callers may change', async () => {
      const storage = memoryStorage();
      const flags = await openFlags({ storage });
      const ref = { project: 'default', flag: 'checkout' };
      const place = { ...ref, environment: 'production' };
      await flags.createFlag(ref, { name: 'checkout' });
      await flags.setVariants(ref, [{ name: 'red' }, { name: 'blue' }]);
      const { strategies } = await flags.configureEnvironment(place, {
        enabled: true,
        strategies: [{ name: 'default' }],
      });
      const variants = await flags.setVariants(ref, [{ name: 'green' }, { name: 'blue' }]);
      for (const list of [strategies, variants] as unknown[][]) list.push('changed by the caller');
      Object.assign(strategies[0] as object, { name: 'changed by the caller' });
      Object.assign(variants[1] as object, { name: 'changed by the caller' });
      const { environments, variants: stored } = await flags.getFlag(ref);
      expect(stored.map(({ name }) => name)).toEqual(['green', 'blue']);
      expect(environments.find(({ name }) => name === 'production')?.strategies).toMatchObject([{ name: 'default' }]);
      await flags.close();
    });

    it('keeps the data of a creation when the document changes', async () => {
      const storage = memoryStorage();
      const key = { kind: 'flag', id: 'a' };
      const put = { key, parent: null, summary: {} };
      const event = { at: '2026-01-01T00:00:00.000Z', actor: 'ann', subject: key, project: null, environment: null };
      const created = { b: { list: [1] }, a: 1 };
      await storage.commit({
        writes: [{ ...put, expected: 0, body: created }],
        events: [{ ...event, type: 'flag-created', data: created, before: null, changeSet: 'first' }],
      });
      const next = { b: { list: [1] }, a: 2 };
      await storage.commit({
        writes: [{ ...put, expected: 1, body: next }],
        events: [{ ...event, type: 'flag-updated', data: next, before: created, changeSet: 'set' }],
      });
      const read = async () => (await storage.events({ order: 'oldest-first', limit: 2 })).events;
      const [first] = await read();
      (first?.data as typeof created | undefined)?.b.list.push(2);
      expect((await read()).map(({ data, before, changeSet }) => ({ data, before, changeSet }))).toEqual([
        { data: created, before: null, changeSet: 'first' },
        { data: next, before: created, changeSet: 'set' },
      ]);
      expect(JSON.stringify((await read())[0]?.data)).toBe(JSON.stringify(created));
    });

    it('has usage in the same place', async () => {
      expect(await usageOf(memoryStorage())?.sum({ resolution: 'minute', by: ['flag'] })).toEqual([]);
    });
  });
});

describe('memoryStorage and sqliteStorage', () => {
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
      events: steps.slice(checked).map(({ key }) => ({ ...newEvent(key.id), subject: key })),
    }));

  /** All results of a storage for a history of commits. */
  async function answers(storage: FlagsStorage, history: readonly Commit[]): Promise<unknown> {
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

  it('return the same for any history of commits', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(commits, { maxLength: 25 }), async (history) => {
        const expected = await answers(memoryStorage(), history);
        expect(await answers(await sqliteStorage(':memory:'), history)).toEqual(expected);
      }),
    );
  });
});

describe('compareCodePoints', () => {
  const wellFormedText = fc.string({ unit: 'binary' });

  it('puts characters above U+FFFF after all others', () => {
    expect(['\u{1f600}', '\uffff', '\ufffd', '\ue000', 'a', ''].sort(compareCodePoints)).toEqual([
      '',
      'a',
      '\ue000',
      '\ufffd',
      '\uffff',
      '\u{1f600}',
    ]);
  });

  it('sorts by the bytes of UTF-8', () => {
    fc.assert(
      fc.property(wellFormedText, wellFormedText, (a, b) => {
        expect(Math.sign(compareCodePoints(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
      }),
    );
  });
});

describe('a prepared commit', () => {
  /** A JSON value that counts how often its text is made. */
  function counted() {
    let texts = 0;
    const toJSON = () => {
      texts++;
      return { name: 'a' };
    };
    return { body: { toJSON }, texts: () => texts };
  }

  it('serializes a document once if its event contains all of it', () => {
    const { body, texts } = counted();
    const { writes, events } = prepareCommit({
      writes: [{ ...put('a'), body }],
      events: [{ ...newEvent('a'), data: body, before: null }],
    });
    expect([writes[0]?.content, events[0]?.data, events[0]?.before]).toEqual([
      { body: '{"name":"a"}', summary: expect.any(String) },
      '{"name":"a"}',
      'null',
    ]);
    expect(texts()).toBe(1);
  });

  it('serializes each event that contains something else', () => {
    const { events } = prepareCommit({
      writes: [put('a'), { key: put('b').key, expected: 1, deleted: true }],
      events: [newEvent('a'), { ...newEvent('b'), data: undefined }],
    });
    expect(events.map(({ data, write }) => [data, write])).toEqual([
      ['{"id":"a"}', 0],
      ['null', 1],
    ]);
  });
});
