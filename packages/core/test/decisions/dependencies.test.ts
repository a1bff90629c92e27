import { LIMITS } from '../../src/base/limits.js';
import { addDependency, removeDependencies, removeDependency } from '../../src/flags/dependencies.decide.js';
import { after, flagState } from './flag-states.js';
import { refusalOf } from './refusal.js';

const ON = { flag: 'payments', enabled: true, variants: [] };
const OFF = { ...ON, enabled: false };
const child = flagState();
const parent = flagState({ name: 'payments' });
const alone = { parent, children: [] };

describe('depending on a flag', () => {
  it('is one event, and no other when it is so already', () => {
    const events = addDependency(child, ON, alone);
    expect(events).toEqual([{ type: 'dependency-added', data: ON, before: null }]);
    const dependent = flagState({ dependencies: [ON] });
    expect(after(child, events)).toEqual(dependent);
    expect(addDependency(dependent, { ...ON, variants: [] }, alone)).toEqual([]);
  });

  it('otherwise than before changes the dependency in its place', () => {
    const [basket, search] = [
      { ...ON, flag: 'basket' },
      { ...ON, flag: 'search' },
    ];
    const dependent = flagState({ dependencies: [basket, ON, search] });
    const events = addDependency(dependent, OFF, alone);
    expect(events).toEqual([{ type: 'dependency-updated', data: OFF, before: ON }]);
    expect(after(dependent, events)?.dependencies).toEqual([basket, OFF, search]);
  });

  it('beside others is added after them', () => {
    const search = { ...ON, flag: 'search' };
    const dependent = flagState({ dependencies: [search] });
    expect(after(dependent, addDependency(dependent, ON, alone))?.dependencies).toEqual([search, ON]);
  });

  it.each([
    ['flag_archived', flagState({ archived: true }), ON, alone],
    ['dependency_cycle', child, { ...ON, flag: 'checkout' }, { parent: child, children: [] }],
    ['parent_not_found', child, ON, { parent: undefined, children: [] }],
    ['parent_not_found', child, ON, { parent: { ...parent, archived: true }, children: [] }],
    ['parent_not_found', child, ON, { parent: { ...parent, project: 'other' }, children: [] }],
    ['dependency_too_deep', child, ON, { parent: { ...parent, dependencies: [OFF] }, children: [] }],
    ['dependency_too_deep', child, ON, { parent, children: ['basket'] }],
  ] as const)('is refused with %s', (code, flag, dependency, relatives) => {
    expect(refusalOf(() => addDependency(flag, dependency, relatives)).code).toBe(code);
  });
});

describe('depending on many flags', () => {
  const dependencies = Array.from({ length: LIMITS.dependencies }, (_, at) => ({ ...ON, flag: `parent-${at}` }));
  const full = flagState({ dependencies });

  it('is refused beyond the limit, which may be reached', () => {
    expect(addDependency(flagState({ dependencies: dependencies.slice(1) }), ON, alone)).toHaveLength(1);
    const { code, message } = refusalOf(() => addDependency(full, ON, alone));
    expect(code).toBe('invalid_input');
    expect(message).toBe(
      `The flag checkout depends on ${LIMITS.dependencies} others, and cannot on more; remove a dependency first.`,
    );
  });

  it('can still be changed at the limit', () => {
    const changed = { ...OFF, flag: 'parent-0' };
    const events = addDependency(full, changed, { parent: flagState({ name: 'parent-0' }), children: [] });
    expect(events).toEqual([{ type: 'dependency-updated', data: changed, before: dependencies[0] }]);
  });
});

describe('no longer depending on a flag', () => {
  const dependent = flagState({ dependencies: [ON, { ...ON, flag: 'search' }] });

  it('leaves the other dependencies', () => {
    const search = { ...ON, flag: 'search' };
    for (const [gone, left] of [
      [ON, search],
      [search, ON],
    ] as const) {
      const events = removeDependency(dependent, gone.flag);
      expect(events).toEqual([{ type: 'dependency-removed', data: null, before: gone }]);
      expect(after(dependent, events)?.dependencies).toEqual([left]);
    }
  });

  it('is refused when it does not, or is archived', () => {
    expect(refusalOf(() => removeDependency(child, 'payments')).code).toBe('dependency_not_found');
    expect(refusalOf(() => removeDependency({ ...dependent, archived: true }, 'payments')).code).toBe('flag_archived');
    expect(refusalOf(() => removeDependencies({ ...dependent, archived: true })).code).toBe('flag_archived');
  });

  it('nor on any other is one event each', () => {
    const events = removeDependencies(dependent);
    expect(events.map(({ before }) => before)).toEqual(dependent.dependencies);
    expect(after(dependent, events)?.dependencies).toEqual([]);
    expect(removeDependencies(child)).toEqual([]);
  });
});
