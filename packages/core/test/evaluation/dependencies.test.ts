import type { DependencyDefinition } from '../../src/evaluation/definitions.types.js';
import { flag, snapshotOf } from './one-flag.js';

const parent = flag({ name: 'parent' });
const child = (...dependencies: DependencyDefinition[]) => flag({ dependencies });

describe('a flag with parents', () => {
  it('is on while all of them are as it wants them', () => {
    const off = flag({ name: 'off', enabled: false });
    expect(snapshotOf([parent, child({ feature: 'parent' })]).isEnabled('checkout')).toBe(true);
    expect(snapshotOf([parent, child({ feature: 'parent', enabled: false })]).isEnabled('checkout')).toBe(false);
    expect(snapshotOf([off, child({ feature: 'off', enabled: false })]).isEnabled('checkout')).toBe(true);
    expect(snapshotOf([parent, off, child({ feature: 'parent' }, { feature: 'off' })]).isEnabled('checkout')).toBe(
      false,
    );
  });

  it('is off while a parent is missing, also when it wants it off', () => {
    expect(snapshotOf([child({ feature: 'parent' })]).isEnabled('checkout')).toBe(false);
    expect(snapshotOf([child({ feature: 'parent', enabled: false })]).isEnabled('checkout')).toBe(false);
  });

  it('is off while a parent has parents itself', () => {
    const grandparent = flag({ name: 'grandparent' });
    const between = flag({ name: 'parent', dependencies: [{ feature: 'grandparent' }] });
    expect(snapshotOf([grandparent, between, child({ feature: 'parent' })]).isEnabled('checkout')).toBe(false);
  });

  it('wants one of the variants it names', () => {
    const varied = flag({ name: 'parent', variants: [{ name: 'blue', weight: 1 }] });
    const wants = (...variants: string[]) => child({ feature: 'parent', variants });
    expect(snapshotOf([varied, wants('red', 'blue')]).isEnabled('checkout')).toBe(true);
    expect(snapshotOf([varied, wants('red')]).isEnabled('checkout')).toBe(false);
    expect(snapshotOf([parent, wants('disabled')]).isEnabled('checkout')).toBe(true);
  });

  it('cannot hang in a cycle: all of it is off', () => {
    const dependsOn = (name: string, feature: string) => flag({ name, dependencies: [{ feature }] });
    const snapshot = snapshotOf([
      dependsOn('a', 'b'),
      dependsOn('b', 'c'),
      dependsOn('c', 'a'),
      dependsOn('self', 'self'),
    ]);
    for (const name of ['a', 'b', 'c', 'self']) {
      expect(snapshot.isEnabled(name)).toBe(false);
      expect(snapshot.explain(name)).toMatchObject({ enabled: false, reason: 'dependency' });
    }
  });

  it('sees a parent that changes after it', () => {
    const before = snapshotOf([parent, child({ feature: 'parent' })]);
    const after = before.with({ flags: [{ ...parent, enabled: false }] });
    expect(after.isEnabled('checkout')).toBe(false);
    expect(after.with({ removedFlags: ['parent'] }).isEnabled('checkout')).toBe(false);
    expect(before.isEnabled('checkout')).toBe(true);
  });
});
