import assert from 'node:assert/strict';
import type { Rule } from './rule.js';
import { commit, conflict, eventsOf, flag, happened, put, same } from './samples.js';

export function tombstoneRules(rule: Rule): void {
  rule('deletes as a write that counts, and then gives undefined', async (storage) => {
    await commit(storage, { writes: [put(flag('a'))] });
    same(await commit(storage, { writes: [{ key: flag('a'), expected: 1, deleted: true }] }), [2]);
    assert.equal(await storage.get(flag('a')), undefined);
  });

  rule('goes on counting when a deleted document is created again', async (storage) => {
    await commit(storage, { writes: [put(flag('a'), { body: 'old' })] });
    await commit(storage, { writes: [{ key: flag('a'), expected: 1, deleted: true }] });
    same(await commit(storage, { writes: [put(flag('a'), { body: 'new' })] }), [3]);
    same(await storage.get(flag('a')), { key: flag('a'), parent: null, revision: 3, body: 'new' });
  });

  rule('refuses writes that expect a revision from before the deletion, or that of the tombstone', async (storage) => {
    await commit(storage, { writes: [put(flag('a'))] });
    await commit(storage, { writes: [{ key: flag('a'), expected: 1, deleted: true }] });
    for (const expected of [1, 2]) {
      await conflict(storage, { writes: [put(flag('a'), { expected })] }, flag('a'));
      await conflict(storage, { writes: [{ key: flag('a'), expected, deleted: true }] }, flag('a'));
    }
    assert.equal(await storage.get(flag('a')), undefined);
  });

  rule('refuses a deletion that is stale or of a document that never was', async (storage) => {
    await commit(storage, { writes: [put(flag('a'))] });
    await commit(storage, { writes: [put(flag('a'), { expected: 1, body: 'kept' })] });
    await conflict(storage, { writes: [{ key: flag('a'), expected: 1, deleted: true }] }, flag('a'));
    await conflict(storage, { writes: [{ key: flag('never'), expected: 1, deleted: true }] }, flag('never'));
    assert.equal((await storage.get(flag('a')))?.body, 'kept');
  });

  rule('keeps the events of a deleted document, the last one stamped with its revision', async (storage) => {
    const key = flag('a');
    await commit(storage, { writes: [put(key)], events: [happened(key, { type: 'created' })] });
    await commit(storage, {
      writes: [{ key, expected: 1, deleted: true }],
      events: [happened(key, { type: 'deleted', before: { name: 'a' } })],
    });
    const events = await eventsOf(storage, { filter: { subject: key } });
    same(
      events.map(({ type, revision }) => [type, revision]),
      [
        ['created', 1],
        ['deleted', 2],
      ],
    );
  });
}
