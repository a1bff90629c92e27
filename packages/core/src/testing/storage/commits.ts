import assert from 'node:assert/strict';
import type { Storage } from '../../storage/port.js';
import type { Rule } from '../test-runner.js';
import { commit, conflict, eventsOf, flag, happened, idsOf, project, put, same } from './samples.js';

export function commitRules(rule: Rule): void {
  rule('creates at revision 1 and counts up with every write', async (storage) => {
    same(await commit(storage, { writes: [put(flag('a'))] }), [1]);
    same(await commit(storage, { writes: [put(flag('a'), { expected: 1, body: 'second' })] }), [2]);
    same(await commit(storage, { writes: [put(flag('a'), { expected: 2, body: 'third' })] }), [3]);
    const stored = await storage.get(flag('a'));
    same([stored?.revision, stored?.body], [3, 'third']);
  });

  rule('gives the revisions in the order of the writes', async (storage) => {
    await commit(storage, { writes: [put(flag('z'))] });
    await commit(storage, { writes: [put(flag('z'), { expected: 1 })] });
    const writes = [put(flag('z'), { expected: 2 }), put(flag('a')), put(flag('m'))];
    same(await commit(storage, { writes }), [3, 1, 1]);
  });

  rule('refuses to create what exists, and names it', async (storage) => {
    await commit(storage, { writes: [put(flag('a'), { body: 'first' })] });
    await conflict(storage, { writes: [put(flag('a'), { body: 'second' })] }, flag('a'));
    assert.equal((await storage.get(flag('a')))?.body, 'first');
  });

  rule('refuses to write what does not exist, and names it', async (storage) => {
    await conflict(storage, { writes: [put(flag('a'), { expected: 1 })] }, flag('a'));
    assert.equal(await storage.get(flag('a')), undefined);
  });

  rule('refuses a stale or a future revision, and then changes nothing and tells nothing', async (storage) => {
    const key = flag('a');
    await commit(storage, { writes: [put(key, { body: 1 })], events: [happened(key)] });
    await commit(storage, { writes: [put(key, { body: 2, expected: 1 })], events: [happened(key)] });
    for (const expected of [0, 1, 3]) {
      await conflict(storage, { writes: [put(key, { body: 'lost', expected })], events: [happened(key)] }, key);
    }
    same(await storage.get(key), { key, parent: null, revision: 2, body: 2 });
    assert.equal((await eventsOf(storage)).length, 2);
  });

  rule('does none of several writes when one of them is stale', async (storage) => {
    await commit(storage, { writes: [put(flag('b'), { body: 'kept' })] });
    const writes = [put(flag('a')), put(flag('b')), put(flag('c'))];
    await conflict(storage, { writes, events: [happened(flag('a')), happened(flag('c'))] }, flag('b'));
    assert.equal(await storage.get(flag('a')), undefined);
    assert.equal((await storage.get(flag('b')))?.body, 'kept');
    assert.equal(await storage.get(flag('c')), undefined);
    same(await eventsOf(storage), []);
  });

  rule('commits over a check that holds, and leaves the checked document alone', async (storage) => {
    await commit(storage, { writes: [put(flag('source'))] });
    await commit(storage, { writes: [put(flag('copy'))], checks: [{ key: flag('source'), expected: 1 }] });
    assert.equal((await storage.get(flag('source')))?.revision, 1);
    assert.equal((await storage.get(flag('copy')))?.revision, 1);
  });

  rule('refuses over a check that is stale, absent or deleted', async (storage) => {
    await commit(storage, { writes: [put(flag('moved')), put(flag('deleted'))] });
    await commit(storage, {
      writes: [put(flag('moved'), { expected: 1 }), { key: flag('deleted'), expected: 1, deleted: true }],
    });
    for (const culprit of ['moved', 'absent', 'deleted']) {
      const checks = [{ key: flag(culprit), expected: 1 }];
      await conflict(storage, { writes: [put(flag('copy'))], checks, events: [happened(flag('copy'))] }, flag(culprit));
    }
    await conflict(storage, { checks: [{ key: flag('deleted'), expected: 2 }] }, flag('deleted'));
    assert.equal(await storage.get(flag('copy')), undefined);
    same(await eventsOf(storage), []);
  });

  rule('accepts a commit of checks alone, and one of nothing', async (storage) => {
    await commit(storage, { writes: [put(flag('a'))] });
    same(await commit(storage, { checks: [{ key: flag('a'), expected: 1 }] }), []);
    same(await commit(storage, {}), []);
  });

  rule('writes two hundred documents in one commit', async (storage) => {
    const keys = Array.from({ length: 200 }, (_, index) => flag(`f${index}`));
    const revisions = await commit(storage, {
      writes: keys.map((key) => put(key)),
      events: keys.map((key) => happened(key)),
    });
    assert.ok(revisions.every((revision) => revision === 1));
    same(
      (await eventsOf(storage)).map(({ subject }) => subject),
      keys,
    );
  });
}

const NO_FLAGS_IN_SHOP = [{ kind: 'flag', parent: 'shop' }];

export function vacancyRules(rule: Rule): void {
  rule('commits when the parent is vacant, whatever is elsewhere', async (storage) => {
    await commit(storage, {
      writes: [put(flag('other-parent'), { parent: 'lab' }), put(project('other-kind'), { parent: 'shop' })],
    });
    await commit(storage, { writes: [put(project('shop'))], vacant: NO_FLAGS_IN_SHOP });
  });

  rule('refuses when a document is left under the parent, names it and changes nothing', async (storage) => {
    await commit(storage, { writes: [put(project('shop')), put(flag('left'), { parent: 'shop' })] });
    const deletion = { key: project('shop'), expected: 1, deleted: true } as const;
    const parts = { writes: [deletion], vacant: NO_FLAGS_IN_SHOP, events: [happened(project('shop'))] };
    await conflict(storage, parts, flag('left'));
    assert.equal((await storage.get(project('shop')))?.revision, 1);
    same(await eventsOf(storage), []);
  });

  rule('counts what the same commit deletes or moves away as gone', async (storage) => {
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
    same(await idsOf(storage, 'flag'), ['b']);
  });

  rule('refuses when the same commit leaves or puts a document there', async (storage) => {
    await commit(storage, { writes: [put(flag('a'), { parent: 'shop' }), put(flag('b'), { parent: 'shop' })] });
    const deletion = { key: flag('a'), expected: 1, deleted: true } as const;
    await conflict(storage, { writes: [deletion], vacant: NO_FLAGS_IN_SHOP }, flag('b'));
    const deletions = [deletion, { key: flag('b'), expected: 1, deleted: true } as const];
    const writes = [...deletions, put(flag('new'), { parent: 'shop' })];
    await conflict(storage, { writes, vacant: NO_FLAGS_IN_SHOP }, flag('new'));
    same(await idsOf(storage, 'flag', 'shop'), ['a', 'b']);
  });

  rule('does not mistake a tombstone for a document', async (storage) => {
    await commit(storage, { writes: [put(flag('a'), { parent: 'shop' })] });
    await commit(storage, { writes: [{ key: flag('a'), expected: 1, deleted: true }] });
    await commit(storage, { writes: [put(project('shop'))], vacant: NO_FLAGS_IN_SHOP });
  });
}

/** For storages that give stamps. */
export function stampRules(rule: Rule): void {
  rule('gives the same stamp, if any, while nothing changes', async (storage) => {
    await commit(storage, { writes: [put(flag('a'))], events: [happened(flag('a'))] });
    const stamp = await storage.dataVersion?.();
    await storage.get(flag('a'));
    await storage.list({ kind: 'flag', part: 'body' });
    assert.equal(await storage.dataVersion?.(), stamp);
  });

  rule('gives a new stamp, if any, after every commit of every instance', async (storage, again) => {
    const other = await again();
    const stamps = new Set([await storage.dataVersion?.()]);
    for (let expected = 0; expected < 20; expected++) {
      const writer: Storage = expected % 2 === 0 ? storage : (other ?? storage);
      await commit(writer, { writes: [put(flag('a'), { expected })], events: [happened(flag('a'))] });
      stamps.add(await storage.dataVersion?.());
    }
    assert.equal(stamps.size, storage.dataVersion ? 21 : 1);
  });

  rule('gives a new stamp, if any, after every change of its metrics', async (storage, again) => {
    const { metrics } = (await again()) ?? storage;
    if (!storage.dataVersion || !metrics) return;
    const sighting = { application: 'shop', instance: { id: 'shop-1' }, at: 1000 };
    const stamps = new Set([await storage.dataVersion()]);
    await metrics.register({ ...sighting, strategies: [] });
    stamps.add(await storage.dataVersion());
    await metrics.record([{ ...sighting, stop: 1000, counts: [{ flag: 'a', yes: 1, no: 0 }] }]);
    stamps.add(await storage.dataVersion());
    await metrics.forget('a');
    stamps.add(await storage.dataVersion());
    await metrics.prune({ countersUntil: 2000, unseenSince: 2000, isFlag: () => false });
    stamps.add(await storage.dataVersion());
    assert.equal(stamps.size, 5);
  });
}
