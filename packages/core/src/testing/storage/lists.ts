import type { ListQuery, Storage } from '../../storage/port.js';
import type { StorageRule } from '../test-runner.js';
import { commit, flag, idsOf, pageOf, project, put, same } from './samples.js';

export function listRules(rule: StorageRule): void {
  rule('returns an empty list if nothing was written', async (storage) => {
    same(await storage.list({ kind: 'flag', part: 'body' }), []);
    same(await storage.list({ kind: 'flag', parent: 'shop', part: 'summary' }), []);
  });

  rule('lists by id in code-point order, beyond U+FFFF too', async (storage) => {
    const ordered = ['', 'A', 'Z', 'a', 'a-b', 'aa', 'z', '~', '\u00e4', '\ue000', '\ufffd', '\u{1f600}', '\u{1f600}a'];
    await commit(storage, { writes: ordered.toReversed().map((id) => put(flag(id), { parent: 'shop' })) });
    same(await idsOf(storage, 'flag'), ordered);
    same(await idsOf(storage, 'flag', 'shop'), ordered);
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
    same(await idsOf(storage, 'flag', 'shop'), ['in-shop']);
    same(await idsOf(storage, 'flag'), ['in-lab', 'in-none', 'in-shop']);
  });

  rule('returns the requested part with key, parent and revision', async (storage) => {
    await commit(storage, { writes: [put(flag('a'), { parent: 'shop', body: { long: 1 }, summary: { short: 2 } })] });
    const place = { key: flag('a'), parent: 'shop', revision: 1 };
    same(await storage.list({ kind: 'flag', part: 'summary' }), [{ ...place, content: { short: 2 } }]);
    same(await storage.list({ kind: 'flag', part: 'body' }), [{ ...place, content: { long: 1 } }]);
  });

  rule('lists the newest state of each document once', async (storage) => {
    await commit(storage, { writes: [put(flag('a'), { parent: 'shop', summary: 'old' })] });
    await commit(storage, { writes: [put(flag('a'), { parent: 'shop', summary: 'new', expected: 1 })] });
    const listed = await storage.list({ kind: 'flag', parent: 'shop', part: 'summary' });
    same(listed, [{ key: flag('a'), parent: 'shop', revision: 2, content: 'new' }]);
  });

  rule('lists a document under its new parent only', async (storage) => {
    await commit(storage, { writes: [put(flag('a'), { parent: 'shop' })] });
    await commit(storage, { writes: [put(flag('a'), { parent: 'lab', expected: 1 })] });
    same(await idsOf(storage, 'flag', 'shop'), []);
    same(await idsOf(storage, 'flag', 'lab'), ['a']);
    same(await idsOf(storage, 'flag'), ['a']);
  });

  rule('leaves out a deleted document until it is created again', async (storage) => {
    await commit(storage, { writes: [put(flag('a'), { parent: 'shop' }), put(flag('b'), { parent: 'shop' })] });
    await commit(storage, { writes: [{ key: flag('a'), expected: 1, deleted: true }] });
    same(await idsOf(storage, 'flag'), ['b']);
    same(await idsOf(storage, 'flag', 'shop'), ['b']);
    await commit(storage, { writes: [put(flag('a'), { parent: 'lab' })] });
    same(await idsOf(storage, 'flag'), ['a', 'b']);
    same(await idsOf(storage, 'flag', 'shop'), ['b']);
    same(await idsOf(storage, 'flag', 'lab'), ['a']);
  });
}

export function listPageRules(rule: StorageRule): void {
  rule('applies the limit from the beginning; a limit of 0 returns nothing', async (storage) => {
    await putFlags(storage, ['a', 'b', 'c']);
    same(await pageOf(storage, { kind: 'flag', limit: 2 }), ['a', 'b']);
    same(await pageOf(storage, { kind: 'flag', limit: 3 }), ['a', 'b', 'c']);
    same(await pageOf(storage, { kind: 'flag', limit: 1000 }), ['a', 'b', 'c']);
    same(await pageOf(storage, { kind: 'flag', limit: 0 }), []);
    same(await pageOf(storage, { kind: 'flag', parent: 'shop', limit: 1 }), ['a']);
    same(await pageOf(storage, { kind: 'flag', parent: 'shop', limit: 0 }), []);
  });

  rule('continues after an id, to the end if there is no limit', async (storage) => {
    await putFlags(storage, ['a', 'b', 'c']);
    same(await pageOf(storage, { kind: 'flag', after: 'a' }), ['b', 'c']);
    same(await pageOf(storage, { kind: 'flag', after: 'a', limit: 1 }), ['b']);
    same(await pageOf(storage, { kind: 'flag', parent: 'shop', after: 'b' }), ['c']);
    same(await pageOf(storage, { kind: 'flag', after: 'c' }), []);
    same(await pageOf(storage, { kind: 'flag', parent: 'shop', after: 'z', limit: 5 }), []);
  });

  rule('continues after an id that no document has', async (storage) => {
    await putFlags(storage, ['b', 'd']);
    same(await pageOf(storage, { kind: 'flag', after: 'a' }), ['b', 'd']);
    same(await pageOf(storage, { kind: 'flag', after: 'c' }), ['d']);
    same(await pageOf(storage, { kind: 'flag', parent: 'shop', after: 'bb' }), ['d']);
    same(await pageOf(storage, { kind: 'nothing', after: 'a', limit: 1 }), []);
    same(await pageOf(storage, { kind: 'flag', parent: 'nowhere', after: 'a', limit: 1 }), []);
  });

  rule('accepts the empty text as an id', async (storage) => {
    await putFlags(storage, ['', 'a']);
    same(await pageOf(storage, { kind: 'flag', limit: 1 }), ['']);
    same(await pageOf(storage, { kind: 'flag', after: '' }), ['a']);
    same(await pageOf(storage, { kind: 'flag', parent: 'shop', after: '' }), ['a']);
  });

  rule('returns every document exactly once, in code-point order, beyond U+FFFF too', async (storage) => {
    const ordered = ['A', 'a', 'aa', 'z', '\u00e4', '\ue000', '\ufffd', '\u{1f600}', '\u{1f600}a', '\u{1f601}'];
    await putFlags(storage, ordered.toReversed());
    for (const place of [{ kind: 'flag' }, { kind: 'flag', parent: 'shop' }]) {
      for (const limit of [1, 3, ordered.length]) same(await readInPages(storage, { ...place, limit }), ordered);
      same(await pageOf(storage, { ...place, after: '\uffff', limit: 1 }), ['\u{1f600}']);
    }
  });

  rule('does not count deleted documents, or those of other kinds and parents', async (storage) => {
    await putFlags(storage, ['a', 'b', 'c', 'e']);
    await commit(storage, { writes: [put(flag('d'), { parent: 'lab' }), put(project('a1'), { parent: 'shop' })] });
    await commit(storage, { writes: ['b', 'c'].map((id) => ({ key: flag(id), expected: 1, deleted: true as const })) });
    same(await pageOf(storage, { kind: 'flag', limit: 2 }), ['a', 'd']);
    same(await pageOf(storage, { kind: 'flag', after: 'a', limit: 2 }), ['d', 'e']);
    same(await pageOf(storage, { kind: 'flag', parent: 'shop', after: 'a', limit: 2 }), ['e']);
  });

  rule('continues after a document that was deleted meanwhile, and returns new documents', async (storage) => {
    await putFlags(storage, ['a', 'c', 'e']);
    same(await pageOf(storage, { kind: 'flag', limit: 2 }), ['a', 'c']);
    await commit(storage, { writes: [{ key: flag('c'), expected: 1, deleted: true }] });
    await putFlags(storage, ['b', 'd']);
    for (const place of [{ kind: 'flag' }, { kind: 'flag', parent: 'shop' }]) {
      same(await pageOf(storage, { ...place, after: 'c', limit: 2 }), ['d', 'e']);
    }
  });

  rule('orders the documents of all parents by id alone', async (storage) => {
    await commit(storage, {
      writes: [put(flag('a'), { parent: 'shop' }), put(flag('b'), { parent: 'lab' }), put(flag('c'))],
    });
    await commit(storage, { writes: [put(flag('d'), { parent: 'lab' }), put(flag('e'), { parent: 'shop' })] });
    same(await readInPages(storage, { kind: 'flag', limit: 2 }), ['a', 'b', 'c', 'd', 'e']);
    same(await readInPages(storage, { kind: 'flag', parent: 'lab', limit: 1 }), ['b', 'd']);
    same(await idsOf(storage, 'flag'), ['a', 'b', 'c', 'd', 'e']);
  });

  rule('returns the requested part', async (storage) => {
    await putFlags(storage, ['a', 'b']);
    const place = { key: flag('b'), parent: 'shop', revision: 1 };
    const page = { kind: 'flag', after: 'a', limit: 1 } as const;
    same(await storage.list({ ...page, part: 'summary' }), [{ ...place, content: { id: 'b' } }]);
    same(await storage.list({ ...page, part: 'body' }), [{ ...place, content: { name: 'b' } }]);
  });
}

async function putFlags(storage: Storage, ids: readonly string[]): Promise<void> {
  await commit(storage, { writes: ids.map((id) => put(flag(id), { parent: 'shop' })) });
}

/** Reads page after page until one is empty. */
async function readInPages(
  storage: Storage,
  query: Omit<ListQuery, 'part' | 'after'> & { readonly limit: number },
): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let page = await pageOf(storage, query); page.length > 0; ) {
    ids.push(...page);
    page = await pageOf(storage, { ...query, after: page.at(-1) ?? '' });
  }
  return ids;
}
