import assert from 'node:assert/strict';
import type { Rule } from './rule.js';
import { commit, conflict, eventsOf, flag, happened, put, same } from './samples.js';

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
