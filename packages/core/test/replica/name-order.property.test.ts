import fc from 'fast-check';
import { compareCodePoints } from '../../src/base/collections.js';
import { createNameOrder } from '../../src/replica/environment-view.js';

interface Item {
  readonly name: string;
  readonly version: number;
}

const name = fc.string({ unit: 'binary', maxLength: 2 });
const step = fc.record({ changes: fc.array(fc.tuple(name, fc.boolean()), { maxLength: 6 }), again: fc.boolean() });

describe('the order of names', () => {
  it('is that of all items put in order anew, whatever has come, gone and been replaced', () => {
    fc.assert(
      fc.property(fc.uniqueArray(name, { minLength: 60, maxLength: 120 }), fc.array(step), (names, steps) => {
        let version = 0;
        const items = new Map<string, Item>(names.map((name) => [name, { name, version }]));
        const order = createNameOrder(
          () => [...items.values()],
          (name) => items.get(name),
        );
        for (const { changes, again } of steps) {
          for (const [name, present] of changes) {
            version += 1;
            if (present) items.set(name, { name, version });
            else items.delete(name);
            order.changed(name);
          }
          const list = order.list();
          const sorted = [...items.values()].sort((one, other) => compareCodePoints(one.name, other.name));
          expect(list).toEqual(sorted);
          if (again) expect(order.list()).toBe(list);
        }
      }),
    );
  });

  it('is the same after a sort in slices, with what changes meanwhile', async () => {
    const change = fc.record({ at: fc.constantFrom('before', 'during', 'after'), name, present: fc.boolean() });
    const sizes = fc.constantFrom(0, 1, 3, 1024, 1025, 5000);
    await fc.assert(
      fc.asyncProperty(sizes, fc.array(change, { maxLength: 9 }), fc.boolean(), async (size, changes, isListed) => {
        const items = new Map<string, Item>();
        for (let at = 0; at < size; at++) items.set(`${(at * 7919) % 10_007}`, { name: '', version: 0 });
        for (const key of items.keys()) items.set(key, { name: key, version: 0 });
        const order = createNameOrder(
          () => [...items.values()],
          (key) => items.get(key),
        );
        const change = (moment: string) => {
          for (const one of changes.filter(({ at }) => at === moment)) {
            if (one.present) items.set(one.name, { name: one.name, version: 1 });
            else items.delete(one.name);
            order.changed(one.name);
          }
        };
        change('before');
        const loading = order.load();
        if (isListed) order.list();
        change('during');
        await loading;
        change('after');
        expect(order.list()).toEqual([...items.values()].sort((one, other) => compareCodePoints(one.name, other.name)));
      }),
      { numRuns: 30 },
    );
  });

  it('leaves lists alone that it has given', () => {
    const items = new Map<string, Item>(
      Array.from({ length: 40 }, (_, at) => [`${at}`, { name: `${at}`, version: 0 }]),
    );
    const order = createNameOrder(
      () => [...items.values()],
      (name) => items.get(name),
    );
    const list = order.list();
    const copy = [...list];
    items.delete('7');
    order.changed('7');
    expect(order.list()).toHaveLength(39);
    expect(list).toEqual(copy);
  });
});
