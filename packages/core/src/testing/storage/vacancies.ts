import assert from 'node:assert/strict';
import type { Rule } from './rule.js';
import { commit, conflict, eventsOf, flag, happened, idsOf, project, put, same } from './samples.js';

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
