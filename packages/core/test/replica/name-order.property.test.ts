import fc from 'fast-check';
import { compareCodePoints } from '../../src/collections.js';
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
