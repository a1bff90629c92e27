import assert from 'node:assert/strict';
import type { Commit, DocumentKey, FlagsStorage } from '../../storage/port.js';
import { usageOf } from '../../storage/usage/port.js';
import {
  assertEqual,
  commit,
  conflict,
  eventsOf,
  flag,
  idsOf,
  newEvent,
  project,
  put,
  type StorageRule,
} from './samples.js';

export function commitRules(rule: StorageRule): void {
  rule('creates a document at revision 1 and adds 1 with every write', async (storage) => {
    assertEqual(await commit(storage, { writes: [put(flag('a'))] }), [1]);
    assertEqual(await commit(storage, { writes: [put(flag('a'), { expected: 1, body: 'second' })] }), [2]);
    assertEqual(await commit(storage, { writes: [put(flag('a'), { expected: 2, body: 'third' })] }), [3]);
    const stored = await storage.get(flag('a'));
    assertEqual([stored?.revision, stored?.body], [3, 'third']);
  });

  rule('returns the new revisions in the order of the writes', async (storage) => {
    await commit(storage, { writes: [put(flag('z'))] });
    await commit(storage, { writes: [put(flag('z'), { expected: 1 })] });
    const writes = [put(flag('z'), { expected: 2 }), put(flag('a')), put(flag('m'))];
    assertEqual(await commit(storage, { writes }), [3, 1, 1]);
  });

  rule('reports a conflict for any other revision, and writes no document and no event', async (storage) => {
    const key = flag('a');
    await conflict(storage, { writes: [put(key, { expected: 1 })] }, key);
    assert.equal(await storage.get(key), undefined);
    for (const body of [1, 2]) {
      await commit(storage, { writes: [put(key, { body, expected: body - 1 })], events: [newEvent(key)] });
      for (const expected of [0, 1, 2, 3].filter((revision) => revision !== body)) {
        await conflict(storage, { writes: [put(key, { body: 'lost', expected })], events: [newEvent(key)] }, key);
      }
      assertEqual(await storage.get(key), { key, parent: null, revision: body, body });
      assert.equal((await eventsOf(storage)).length, body);
    }
  });

  rule('writes none of several documents if one has a conflict', async (storage) => {
    await commit(storage, { writes: [put(flag('b'), { body: 'kept' })] });
    const writes = [put(flag('a')), put(flag('b')), put(flag('c'))];
    await conflict(storage, { writes, events: [newEvent(flag('a')), newEvent(flag('c'))] }, flag('b'));
    assert.equal(await storage.get(flag('a')), undefined);
    assert.equal((await storage.get(flag('b')))?.body, 'kept');
    assert.equal(await storage.get(flag('c')), undefined);
    assertEqual(await eventsOf(storage), []);
  });

  rule('deletes a document that does not exist, and counts a revision for its events', async (storage) => {
    const deletion = { key: flag('a'), expected: 0, deleted: true } as const;
    for (const revision of [1, 2]) {
      assertEqual(await commit(storage, { writes: [deletion], events: [newEvent(flag('a'))] }), [revision]);
      assert.equal(await storage.get(flag('a')), undefined);
      assertEqual(await idsOf(storage, 'flag'), []);
    }
    assertEqual(
      (await eventsOf(storage)).map(({ revision }) => revision),
      [1, 2],
    );
    assertEqual(await commit(storage, { writes: [put(flag('a'))] }), [3]);
    await conflict(storage, { writes: [deletion] }, flag('a'));
  });

  rule('commits if a check holds, and does not change the checked document', async (storage) => {
    await commit(storage, { writes: [put(flag('source'))] });
    await commit(storage, { writes: [put(flag('copy'))], checks: [{ key: flag('source'), expected: 1 }] });
    assert.equal((await storage.get(flag('source')))?.revision, 1);
    assert.equal((await storage.get(flag('copy')))?.revision, 1);
  });

  for (const [done, given] of [
    ['checked', (key: DocumentKey, expected: number) => ({ checks: [{ key, expected }] })],
    ['touched', (key: DocumentKey, expected: number) => ({ writes: [{ key, expected, touch: true } as const] })],
  ] as const) {
    rule(`reports a conflict if a ${done} document has changed, never existed or was deleted`, async (storage) => {
      await commit(storage, { writes: [put(flag('moved')), put(flag('deleted'))] });
      await commit(storage, {
        writes: [put(flag('moved'), { expected: 1 }), { key: flag('deleted'), expected: 1, deleted: true }],
      });
      for (const [culprit, expected] of [
        ['moved', 1],
        ['absent', 1],
        ['deleted', 1],
        ['deleted', 2],
      ] as const) {
        const { writes = [], ...parts }: Partial<Commit> = given(flag(culprit), expected);
        const events = [newEvent(flag('copy'))];
        await conflict(storage, { writes: [put(flag('copy')), ...writes], ...parts, events }, flag(culprit));
      }
      assert.equal(await storage.get(flag('copy')), undefined);
      assertEqual(await eventsOf(storage), []);
    });
  }

  rule('accepts a commit with checks only, and an empty one', async (storage) => {
    await commit(storage, { writes: [put(flag('a'))] });
    assertEqual(await commit(storage, { checks: [{ key: flag('a'), expected: 1 }] }), []);
    assertEqual(await commit(storage, {}), []);
  });

  rule('gives a touched document a new revision, and keeps its body, summary and parent', async (storage) => {
    const key = flag('a');
    const written = put(key, { parent: 'shop', body: { text: 'a\u0000b' }, summary: { short: true } });
    await commit(storage, { writes: [written] });
    assertEqual(await commit(storage, { writes: [put(flag('b')), { key, expected: 1, touch: true }] }), [1, 2]);
    assertEqual(await storage.get(key), { key, parent: 'shop', revision: 2, body: { text: 'a\u0000b' } });
    const [listed] = await storage.list({ kind: 'flag', parent: 'shop', part: 'summary' });
    assertEqual(listed, { key, parent: 'shop', revision: 2, content: { short: true } });
    await conflict(storage, { writes: [put(key, { expected: 1 })] }, key);
    assertEqual(await commit(storage, { writes: [put(key, { expected: 2, body: 'later' })] }), [3]);
  });

  rule('writes two hundred documents in one commit', async (storage) => {
    const keys = Array.from({ length: 200 }, (_, index) => flag(`f${index}`));
    const revisions = await commit(storage, {
      writes: keys.map((key) => put(key)),
      events: keys.map((key) => newEvent(key)),
    });
    assert.ok(revisions.every((revision) => revision === 1));
    assertEqual(
      (await eventsOf(storage)).map(({ subject }) => subject),
      keys,
    );
  });
}

const NO_FLAGS_IN_SHOP = [{ kind: 'flag', parent: 'shop' }];

export function vacancyRules(rule: StorageRule): void {
  rule('commits if the parent has no document of the kind, whatever other parents and kinds have', async (storage) => {
    await commit(storage, {
      writes: [put(flag('other-parent'), { parent: 'lab' }), put(project('other-kind'), { parent: 'shop' })],
    });
    await commit(storage, { writes: [put(project('shop'))], vacant: NO_FLAGS_IN_SHOP });
  });

  rule('reports the document that is left under the parent, and changes nothing', async (storage) => {
    await commit(storage, { writes: [put(project('shop')), put(flag('left'), { parent: 'shop' })] });
    const deletion = { key: project('shop'), expected: 1, deleted: true } as const;
    const parts = { writes: [deletion], vacant: NO_FLAGS_IN_SHOP, events: [newEvent(project('shop'))] };
    await conflict(storage, parts, flag('left'));
    assert.equal((await storage.get(project('shop')))?.revision, 1);
    assertEqual(await eventsOf(storage), []);
  });

  rule('ignores documents that the same commit deletes or moves to another parent', async (storage) => {
    await commit(storage, {
      writes: [
        put(flag('a'), { parent: 'shop' }),
        put(flag('b'), { parent: 'shop' }),
        put(flag('c'), { parent: 'shop' }),
      ],
    });
    await commit(storage, {
      writes: [
        { key: flag('a'), expected: 1, deleted: true },
        put(flag('b'), { expected: 1, parent: 'lab' }),
        { key: flag('c'), expected: 1, deleted: true },
      ],
      vacant: NO_FLAGS_IN_SHOP,
    });
    assertEqual(await idsOf(storage, 'flag'), ['b']);
  });

  rule('reports a conflict if the same commit leaves or adds a document under the parent', async (storage) => {
    await commit(storage, { writes: [put(flag('a'), { parent: 'shop' }), put(flag('b'), { parent: 'shop' })] });
    const deletion = { key: flag('a'), expected: 1, deleted: true } as const;
    await conflict(storage, { writes: [deletion], vacant: NO_FLAGS_IN_SHOP }, flag('b'));
    const deletions = [deletion, { key: flag('b'), expected: 1, deleted: true } as const];
    const writes = [...deletions, put(flag('new'), { parent: 'shop' })];
    await conflict(storage, { writes, vacant: NO_FLAGS_IN_SHOP }, flag('new'));
    assertEqual(await idsOf(storage, 'flag', 'shop'), ['a', 'b']);
  });

  rule('reports a document under the parent that the same commit touches', async (storage) => {
    await commit(storage, { writes: [put(flag('a'), { parent: 'shop' })] });
    const writes = [{ key: flag('a'), expected: 1, touch: true } as const];
    await conflict(storage, { writes, vacant: NO_FLAGS_IN_SHOP }, flag('a'));
    assertEqual((await storage.get(flag('a')))?.revision, 1);
  });

  rule('ignores deleted documents', async (storage) => {
    await commit(storage, { writes: [put(flag('a'), { parent: 'shop' })] });
    await commit(storage, { writes: [{ key: flag('a'), expected: 1, deleted: true }] });
    await commit(storage, { writes: [put(project('shop'))], vacant: NO_FLAGS_IN_SHOP });
  });
}

/** For storages with a data version. */
export function dataVersionRules(rule: StorageRule): void {
  rule('returns the same data version while nothing changes', async (storage) => {
    await commit(storage, { writes: [put(flag('a'))], events: [newEvent(flag('a'))] });
    const readTwice = async () => {
      const version = await storage.dataVersion?.();
      await storage.get(flag('a'));
      await storage.list({ kind: 'flag', part: 'body' });
      return [version, await storage.dataVersion?.()];
    };
    let [first, second] = await readTwice();
    // On a shared server the version may move once more, when a foreign transaction that ran during the commit ends.
    for (let again = 0; again < 5 && first !== second; again++) [first, second] = await readTwice();
    assert.equal(second, first);
  });

  rule('returns a new data version after every commit of every instance', async (storage, again) => {
    const other = await again();
    const versions = new Set([await storage.dataVersion?.()]);
    for (let expected = 0; expected < 20; expected++) {
      const writer: FlagsStorage = expected % 2 === 0 ? storage : (other ?? storage);
      await commit(writer, { writes: [put(flag('a'), { expected })], events: [newEvent(flag('a'))] });
      versions.add(await storage.dataVersion?.());
    }
    assert.equal(versions.size, storage.dataVersion ? 21 : 1);
  });

  rule('returns a new data version after every change of its usage', async (storage, again) => {
    const usage = usageOf((await again()) ?? storage);
    if (!storage.dataVersion || !usage) return;
    const sighting = { application: 'shop', instance: { id: 'shop-1' } };
    const versions = new Set([await storage.dataVersion()]);
    await usage.record({ id: '1', at: 1000, registrations: [{ ...sighting, strategies: [] }] });
    versions.add(await storage.dataVersion());
    const counts = [{ flag: 'a', yes: 1, no: 0 }];
    await usage.record({ id: '2', at: 1000, reports: [{ ...sighting, stop: 1000, counts }] });
    versions.add(await storage.dataVersion());
    await usage.forget({ flags: ['a'] });
    versions.add(await storage.dataVersion());
    await usage.prune({ now: 2000, unseen: { since: 2000, isFlag: () => false } });
    versions.add(await storage.dataVersion());
    assert.equal(versions.size, 5);
  });
}
