import { type CloneOrigin, cloneFlag } from '../../src/flags/lifecycle.decide.js';
import { after, environmentState, flagState, strategyState } from './flag-states.js';
import { refusalOf } from './refusal.js';

const BIRTH: CloneOrigin = {
  name: 'copy',
  createdAt: '2026-02-02T00:00:00.000Z',
  idFor: (strategy) => `copy-of-${strategy}`,
  dependencies: [],
};

const variant = { name: 'a', weightType: 'variable', weight: 1000, stickiness: 'default', overrides: [] } as const;

describe('copying a flag', () => {
  const source = flagState({
    stale: true,
    impressionData: true,
    type: 'operational',
    variants: [variant],
    environments: [
      environmentState('production', ['one', 'two'], { enabled: true }),
      environmentState('development', ['three']),
    ],
  });

  it('takes everything but its history: fresh, off everywhere, with strategy ids of its own', () => {
    const events = cloneFlag(undefined, source, BIRTH);
    expect(events).toMatchObject([{ type: 'flag-created', before: null }]);
    expect(after(undefined, events)).toEqual({
      ...source,
      name: 'copy',
      stale: false,
      createdAt: BIRTH.createdAt,
      environments: [
        environmentState('production', ['copy-of-one', 'copy-of-two']),
        environmentState('development', ['copy-of-three']),
      ],
    });
  });

  it('is the same however often it is decided', () => {
    expect(cloneFlag(undefined, source, BIRTH)).toEqual(cloneFlag(undefined, source, BIRTH));
  });

  it('leaves the source as it is', () => {
    const before = structuredClone(source);
    cloneFlag(undefined, source, BIRTH);
    expect(source).toEqual(before);
  });

  it.each([
    [
      { groupId: 'checkout', rollout: 50 },
      { groupId: 'copy', rollout: 50 },
    ],
    [{ groupId: 'Checkout' }, { groupId: 'Checkout' }],
    [{ groupId: 'checkout-2' }, { groupId: 'checkout-2' }],
    [{ group: 'checkout' }, { group: 'checkout' }],
    [{ groupId: null }, { groupId: null }],
    [null, null],
    [
      JSON.parse('{"__proto__":"checkout","groupId":"checkout"}'),
      JSON.parse('{"__proto__":"checkout","groupId":"copy"}'),
    ],
  ])('makes a group of its own of %j: %j', (parameters, expected) => {
    const strategies = [strategyState('one', { parameters })];
    const flag = flagState({ environments: [{ name: 'production', enabled: false, strategies }] });
    const copy = after(undefined, cloneFlag(undefined, flag, BIRTH));
    expect(JSON.stringify(copy?.environments[0]?.strategies[0]?.parameters)).toBe(JSON.stringify(expected));
  });

  it('is refused for an archived source, and for a taken name', () => {
    expect(refusalOf(() => cloneFlag(undefined, flagState({ archived: true }), BIRTH)).code).toBe('flag_archived');
    expect(refusalOf(() => cloneFlag(flagState({ name: 'copy' }), source, BIRTH)).code).toBe('flag_exists');
    const archived = flagState({ name: 'copy', archived: true });
    expect(refusalOf(() => cloneFlag(archived, source, BIRTH)).code).toBe('flag_exists');
  });

  it('depends on its input, not on its source', () => {
    const dependencies = [{ flag: 'payments', enabled: true, variants: [] }];
    const dependent = flagState({ dependencies: [...dependencies, { flag: 'search', enabled: true, variants: [] }] });
    const birth = { ...BIRTH, dependencies };
    expect(after(undefined, cloneFlag(undefined, dependent, birth))).toMatchObject({ dependencies });
    expect(after(undefined, cloneFlag(undefined, dependent, BIRTH))).not.toHaveProperty('dependencies');
  });
});
