import type { Rule } from './rule.js';
import { commit, flag, idsOf, project, put, same } from './samples.js';

export function listRules(rule: Rule): void {
  rule('lists nothing where nothing was written', async (storage) => {
    same(await storage.list({ kind: 'flag', part: 'body' }), []);
    same(await storage.list({ kind: 'flag', parent: 'shop', part: 'summary' }), []);
  });

  rule('lists by id in code-point order, beyond U+FFFF too', async (storage) => {
    const ordered = ['', 'A', 'Z', 'a', 'a-b', 'aa', 'z', '~', '\u00e4', '\ue000', '\ufffd', '\u{1f600}', '\u{1f600}a'];
    await commit(storage, { writes: ordered.toReversed().map((id) => put(flag(id), { parent: 'shop' })) });
    same(await idsOf(storage, 'flag'), ordered);
    same(await idsOf(storage, 'flag', 'shop'), ordered);
  });

  rule('leaves out other kinds, and other parents when one is given', async (storage) => {
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

  rule('gives the part that was asked for, with key, parent and revision', async (storage) => {
    await commit(storage, { writes: [put(flag('a'), { parent: 'shop', body: { long: 1 }, summary: { short: 2 } })] });
    const place = { key: flag('a'), parent: 'shop', revision: 1 };
    same(await storage.list({ kind: 'flag', part: 'summary' }), [{ ...place, content: { short: 2 } }]);
    same(await storage.list({ kind: 'flag', part: 'body' }), [{ ...place, content: { long: 1 } }]);
  });

  rule('lists the last written state, each document once', async (storage) => {
    await commit(storage, { writes: [put(flag('a'), { parent: 'shop', summary: 'old' })] });
    await commit(storage, { writes: [put(flag('a'), { parent: 'shop', summary: 'new', expected: 1 })] });
    const listed = await storage.list({ kind: 'flag', parent: 'shop', part: 'summary' });
    same(listed, [{ key: flag('a'), parent: 'shop', revision: 2, content: 'new' }]);
  });

  rule('lists a document that changed its parent under the new one alone', async (storage) => {
    await commit(storage, { writes: [put(flag('a'), { parent: 'shop' })] });
    await commit(storage, { writes: [put(flag('a'), { parent: 'lab', expected: 1 })] });
    same(await idsOf(storage, 'flag', 'shop'), []);
    same(await idsOf(storage, 'flag', 'lab'), ['a']);
    same(await idsOf(storage, 'flag'), ['a']);
  });

  rule('does not list a deleted document, and lists it again once re-created', async (storage) => {
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
