import assert from 'node:assert/strict';
import type { Storage } from '../../storage/port.js';
import type { Rule } from './rule.js';
import { commit, conflict, eventsOf, flag, happened, idsOf, put, same } from './samples.js';

export function instanceRules(rule: Rule): void {
  rule('shows a commit to every other instance as soon as it is acknowledged', async (storage, again) => {
    const other = await again();
    if (!other) return;
    for (let expected = 0; expected < 20; expected++) {
      const writer = expected % 2 === 0 ? storage : other;
      const reader: Storage = expected % 2 === 0 ? other : storage;
      await commit(writer, { writes: [put(flag('a'), { expected, body: expected })], events: [happened(flag('a'))] });
      assert.equal((await reader.get(flag('a')))?.body, expected);
      same(await idsOf(reader, 'flag'), ['a']);
      assert.equal((await eventsOf(reader)).length, expected + 1);
    }
  });

  rule('refuses to one instance what another has changed', async (storage, again) => {
    const other = await again();
    if (!other) return;
    await commit(storage, { writes: [put(flag('a'))] });
    await commit(other, { writes: [put(flag('a'), { expected: 1 })] });
    await conflict(storage, { writes: [put(flag('a'), { expected: 1 })] }, flag('a'));
  });

  rule('keeps its state when it is closed and opened again', async (storage, again) => {
    await commit(storage, { writes: [put(flag('a'), { body: 'kept' })], events: [happened(flag('a'))] });
    const other = await again();
    if (!other) return;
    await storage.close();
    const [event] = await eventsOf(other);
    const reopened = await again();
    assert.ok(reopened);
    assert.equal((await reopened.get(flag('a')))?.body, 'kept');
    same(await eventsOf(reopened), [event]);
  });

  rule('can be closed again and again, at once and later', async (storage) => {
    await Promise.all([storage.close(), storage.close()]);
    await storage.close();
  });

  rule('finishes what was committed before it was closed', async (storage, again) => {
    const committed = Promise.all([1, 2, 3].map((number) => commit(storage, { writes: [put(flag(`f${number}`))] })));
    await storage.close();
    await committed;
    const other = await again();
    if (other) same(await idsOf(other, 'flag'), ['f1', 'f2', 'f3']);
  });
}
