import assert from 'node:assert/strict';
import type { Storage } from '../../storage/port.js';
import type { Rule } from './rule.js';
import { commit, flag, happened, put } from './samples.js';

/** For storages that give stamps. */
export function stampRules(rule: Rule): void {
  rule('gives the same stamp, if any, while nothing changes', async (storage) => {
    await commit(storage, { writes: [put(flag('a'))], events: [happened(flag('a'))] });
    const stamp = await storage.stamp?.();
    await storage.get(flag('a'));
    await storage.list({ kind: 'flag', part: 'body' });
    assert.equal(await storage.stamp?.(), stamp);
  });

  rule('gives a new stamp, if any, after every commit of every instance', async (storage, again) => {
    const other = await again();
    const stamps = new Set([await storage.stamp?.()]);
    for (let expected = 0; expected < 20; expected++) {
      const writer: Storage = expected % 2 === 0 ? storage : (other ?? storage);
      await commit(writer, { writes: [put(flag('a'), { expected })], events: [happened(flag('a'))] });
      stamps.add(await storage.stamp?.());
    }
    assert.equal(stamps.size, storage.stamp ? 21 : 1);
  });

  rule('gives a new stamp, if any, after every change of its metrics', async (storage, again) => {
    const { metrics } = (await again()) ?? storage;
    if (!storage.stamp || !metrics) return;
    const sighting = { application: 'shop', instance: { id: 'shop-1' }, at: 1000 };
    const stamps = new Set([await storage.stamp()]);
    await metrics.register({ ...sighting, strategies: [] });
    stamps.add(await storage.stamp());
    await metrics.record([{ ...sighting, stop: 1000, counts: [{ flag: 'a', yes: 1, no: 0 }] }]);
    stamps.add(await storage.stamp());
    await metrics.forget('a');
    stamps.add(await storage.stamp());
    await metrics.prune({ countersUntil: 2000, unseenSince: 2000, isFlag: () => false });
    stamps.add(await storage.stamp());
    assert.equal(stamps.size, 5);
  });
}
