import type { FlagsStorage, ListQuery } from '../../storage/port.js';
import { assertEqual, commit, flag, idsOf, pageOf, project, put, type StorageRule } from './samples.js';

/** The flags of all parents, or those of one. */
const PLACES = [{ kind: 'flag' }, { kind: 'flag', parent: 'shop' }] as const;

export function listRules(rule: StorageRule): void {
  rule('returns an empty list if nothing was written', async (storage) => {
    assertEqual(await storage.list({ kind: 'flag', part: 'body' }), []);
    assertEqual(await storage.list({ kind: 'flag', parent: 'shop', part: 'summary' }), []);
  });

  rule('leaves out other kinds, and other parents if the query names one', async (storage) => {
    await commit(storage, {
      writes: [
        put(flag('in-shop'), { parent: 'shop' }),
        put(flag('in-lab'), { parent: 'lab' }),
        put(flag('in-none')),
        put(project('shop'), { parent: 'shop' }),
      ],
    });
    assertEqual(await idsOf(storage, 'flag', 'shop'), ['in-shop']);
    assertEqual(await idsOf(storage, 'flag'), ['in-lab', 'in-none', 'in-shop']);
  });

  rule('returns the requested part of the newest state, once, with key, parent and revision', async (storage) => {
    const older = put(flag('b'), { parent: 'shop', body: { long: 1 }, summary: { short: 1 } });
    await commit(storage, { writes: [put(flag('a'), { parent: 'shop' }), older] });
    const newer = put(flag('b'), { parent: 'shop', body: { long: 2 }, summary: { short: 2 }, expected: 1 });
    await commit(storage, { writes: [newer] });
    const found = { key: flag('b'), parent: 'shop', revision: 2 };
    for (const place of PLACES) {
      const page = { ...place, after: 'a', limit: 1 };
      assertEqual(await storage.list({ ...page, part: 'summary' }), [{ ...found, content: { short: 2 } }]);
      assertEqual(await storage.list({ ...page, part: 'body' }), [{ ...found, content: { long: 2 } }]);
    }
  });

  rule('lists a document under its new parent only', async (storage) => {
    await commit(storage, { writes: [put(flag('a'), { parent: 'shop' })] });
    await commit(storage, { writes: [put(flag('a'), { parent: 'lab', expected: 1 })] });
    assertEqual(await idsOf(storage, 'flag', 'shop'), []);
    assertEqual(await idsOf(storage, 'flag', 'lab'), ['a']);
    assertEqual(await idsOf(storage, 'flag'), ['a']);
  });

  rule('leaves out a deleted document until it is created again', async (storage) => {
    await putFlags(storage, ['a', 'b']);
    await commit(storage, { writes: [{ key: flag('a'), expected: 1, deleted: true }] });
    for (const place of PLACES) assertEqual(await pageOf(storage, place), ['b']);
    await commit(storage, { writes: [put(flag('a'), { parent: 'lab' })] });
    assertEqual(await idsOf(storage, 'flag'), ['a', 'b']);
    assertEqual(await idsOf(storage, 'flag', 'shop'), ['b']);
    assertEqual(await idsOf(storage, 'flag', 'lab'), ['a']);
  });
}

/** In code-point order. UTF-16 order would place the last three before `\ue000`. */
const ORDERED = [
  ...['', 'A', 'Z', 'a', 'a-b', 'aa', 'z', '~', '\u00e4', '\ue000', '\ufffd'],
  ...['\u{1f600}', '\u{1f600}a', '\u{1f601}'],
];

export function listPageRules(rule: StorageRule): void {
  rule('applies the limit, and continues after an id, whether or not a document has it', async (storage) => {
    await putFlags(storage, ['b', 'd', 'f']);
    for (const place of PLACES) {
      for (const [page, expected] of [
        [{ limit: 0 }, []],
        [{ limit: 2 }, ['b', 'd']],
        [{ limit: 3 }, ['b', 'd', 'f']],
        [{ limit: 1000 }, ['b', 'd', 'f']],
        [{ after: 'b' }, ['d', 'f']],
        [{ after: 'b', limit: 1 }, ['d']],
        [{ after: 'a' }, ['b', 'd', 'f']],
        [{ after: 'c' }, ['d', 'f']],
        [{ after: 'bb', limit: 1 }, ['d']],
        [{ after: 'f' }, []],
        [{ after: 'z', limit: 5 }, []],
      ] as const) {
        assertEqual(await pageOf(storage, { ...place, ...page }), expected);
      }
    }
    assertEqual(await pageOf(storage, { kind: 'nothing', after: 'a', limit: 1 }), []);
    assertEqual(await pageOf(storage, { kind: 'flag', parent: 'nowhere', after: 'a', limit: 1 }), []);
  });

  rule('returns every document exactly once, by id in code-point order, beyond U+FFFF too', async (storage) => {
    await putFlags(storage, ORDERED.toReversed());
    for (const place of PLACES) {
      assertEqual(await pageOf(storage, place), ORDERED);
      for (const limit of [1, 3, ORDERED.length]) assertEqual(await readInPages(storage, { ...place, limit }), ORDERED);
      assertEqual(await pageOf(storage, { ...place, after: '\uffff', limit: 1 }), ['\u{1f600}']);
    }
  });

  rule('does not count deleted documents, or those of other kinds and parents', async (storage) => {
    await putFlags(storage, ['a', 'b', 'c', 'e']);
    await commit(storage, { writes: [put(flag('d'), { parent: 'lab' }), put(project('a1'), { parent: 'shop' })] });
    await commit(storage, { writes: ['b', 'c'].map((id) => ({ key: flag(id), expected: 1, deleted: true as const })) });
    assertEqual(await pageOf(storage, { kind: 'flag', limit: 2 }), ['a', 'd']);
    assertEqual(await pageOf(storage, { kind: 'flag', after: 'a', limit: 2 }), ['d', 'e']);
    assertEqual(await pageOf(storage, { kind: 'flag', parent: 'shop', after: 'a', limit: 2 }), ['e']);
  });

  rule('continues after a document that was deleted meanwhile, and returns new documents', async (storage) => {
    await putFlags(storage, ['a', 'c', 'e']);
    assertEqual(await pageOf(storage, { kind: 'flag', limit: 2 }), ['a', 'c']);
    await commit(storage, { writes: [{ key: flag('c'), expected: 1, deleted: true }] });
    await putFlags(storage, ['b', 'd']);
    for (const place of PLACES) assertEqual(await pageOf(storage, { ...place, after: 'c', limit: 2 }), ['d', 'e']);
  });

  rule('orders the documents of all parents by id alone', async (storage) => {
    await commit(storage, {
      writes: [put(flag('a'), { parent: 'shop' }), put(flag('b'), { parent: 'lab' }), put(flag('c'))],
    });
    await commit(storage, { writes: [put(flag('d'), { parent: 'lab' }), put(flag('e'), { parent: 'shop' })] });
    assertEqual(await readInPages(storage, { kind: 'flag', limit: 2 }), ['a', 'b', 'c', 'd', 'e']);
    assertEqual(await readInPages(storage, { kind: 'flag', parent: 'lab', limit: 1 }), ['b', 'd']);
  });
}

async function putFlags(storage: FlagsStorage, ids: readonly string[]): Promise<void> {
  await commit(storage, { writes: ids.map((id) => put(flag(id), { parent: 'shop' })) });
}

/** Reads page after page until one is empty. */
async function readInPages(
  storage: FlagsStorage,
  query: Omit<ListQuery, 'part' | 'after'> & { readonly limit: number },
): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let page = await pageOf(storage, query); page.length > 0; ) {
    ids.push(...page);
    page = await pageOf(storage, { ...query, after: page.at(-1) ?? '' });
  }
  return ids;
}
