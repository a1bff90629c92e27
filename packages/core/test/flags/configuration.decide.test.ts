import { LIMITS } from '../../src/base/limits.js';
import { addDependency, removeDependencies, removeDependency } from '../../src/features/flags/dependencies.decide.js';
import { sortStrategies } from '../../src/features/flags/flag.js';
import {
  addStrategy,
  configureEnvironment,
  findStrategy,
  removeStrategy,
  replaceStrategy,
  toStrategy,
} from '../../src/features/flags/strategies.decide.js';
import type { Strategy } from '../../src/features/flags/strategy.types.js';
import type { Variant, VariantInput } from '../../src/features/flags/variant.types.js';
import { setVariants } from '../../src/features/flags/variants.decide.js';
import { refusalOf } from '../decision.js';
import { after, environmentState, flagState, strategyState } from './flag-states.js';

const FLAG = flagState({
  environments: [
    environmentState('production', ['one', 'two', 'three'], { enabled: true }),
    environmentState('development', ['other']),
  ],
});
const TWO = { environment: 'production', strategy: 'two' };

function idsIn(flag: ReturnType<typeof after>, environment: string): readonly string[] | undefined {
  return flag?.environments.find(({ name }) => name === environment)?.strategies.map(({ id }) => id);
}

describe('a strategy from input', () => {
  it('has empty constraints and parameters when they are absent, and no other members', () => {
    expect(toStrategy('id', { name: 'default' })).toEqual({
      id: 'id',
      name: 'default',
      constraints: [],
      parameters: {},
    });
  });

  it('has an empty name without one, which no schema accepts', () => {
    expect(toStrategy('id', {}).name).toBe('');
  });

  it('keeps null parameters and every optional member, and drops unknown members', () => {
    const input = { name: 'x', parameters: null, title: '', disabled: false, sortOrder: 0, segments: [], variants: [] };
    expect(toStrategy('id', { ...input, ...{ unknown: 1, id: 'other' } })).toEqual({
      id: 'id',
      constraints: [],
      ...input,
    });
  });
});

describe('adding a strategy', () => {
  it('appends it to the existing strategies, and does not switch the environment', () => {
    const events = addStrategy(FLAG, 'production', strategyState('four'));
    expect(events).toEqual([
      { type: 'strategy-added', environment: 'production', data: strategyState('four'), before: null },
    ]);
    expect(after(FLAG, events)?.environments).toEqual([
      environmentState('production', ['one', 'two', 'three', 'four'], { enabled: true }),
      environmentState('development', ['other']),
    ]);
  });

  it.each(['staging', '__proto__', 'constructor'])('creates the configuration of an environment: %s', (environment) => {
    const flag = after(flagState(), addStrategy(flagState(), environment, strategyState('one')));
    expect(flag?.environments).toEqual([environmentState(environment, ['one'])]);
  });
});

describe('configuring an environment', () => {
  const [one, two, three] = ['one', 'two', 'three'].map((id) => strategyState(id)) as [Strategy, Strategy, Strategy];
  const configure = (strategies: readonly Strategy[], enabled = true) =>
    configureEnvironment(FLAG, 'production', { enabled, strategies });

  it('changes nothing for the configuration that it has', () => {
    expect(configure([one, two, three])).toEqual([]);
  });

  it('updates the strategies whose place changes, and removes none that stays', () => {
    const updates = configure([three, one, two]);
    expect(updates.map(({ type }) => type)).toEqual(Array(3).fill('strategy-updated'));
    const stored = after(FLAG, updates)?.environments[0]?.strategies ?? [];
    expect(sortStrategies(stored).map(({ id }) => id)).toEqual(['three', 'one', 'two']);
  });

  it('gives no strategy a place if the order is the given one', () => {
    const added = strategyState('four');
    expect(configure([one, two, three, added])).toEqual([
      { type: 'strategy-added', environment: 'production', data: added, before: null },
    ]);
  });

  it('switches off before it removes the last strategy, with the state before', () => {
    const environment = { environment: 'production', data: { enabled: false }, before: { enabled: true } };
    expect(configure([], false)[0]).toEqual({ type: 'environment-disabled', ...environment });
  });
});

describe('adding many strategies', () => {
  it('is refused above the limit of an environment, and accepted at the limit', () => {
    const ids = Array.from({ length: LIMITS.strategiesPerEnvironment }, (_, at) => `s-${at}`);
    const holding = (held: readonly string[]) => flagState({ environments: [environmentState('production', held)] });
    expect(addStrategy(holding(ids.slice(1)), 'production', strategyState('new'))).toHaveLength(1);
    const full = holding(ids);
    expect(addStrategy(full, 'development', strategyState('new'))).toHaveLength(1);
    const { code, message } = refusalOf(() => addStrategy(full, 'production', strategyState('new')));
    expect(code).toBe('invalid_input');
    expect(message).toBe(
      `The flag checkout has ${ids.length} strategies in production, which is the maximum; remove one first.`,
    );
  });
});

describe('replacing a strategy', () => {
  it('keeps its id and position, and drops members that the input omits', () => {
    const [event] = replaceStrategy(FLAG, TWO, { name: 'flexibleRollout', parameters: { rollout: 5 } });
    const data = { id: 'two', name: 'flexibleRollout', constraints: [], parameters: { rollout: 5 } };
    expect(event).toEqual({ type: 'strategy-updated', environment: 'production', data, before: strategyState('two') });
    const replaced = after(FLAG, event ? [event] : []);
    expect(idsIn(replaced, 'production')).toEqual(['one', 'two', 'three']);
    expect(replaced?.environments[0]?.strategies[1]).toEqual(data);
  });

  it('causes no event if the value is equal, in any order of members', () => {
    expect(replaceStrategy(FLAG, TWO, { parameters: {}, constraints: [], name: 'default' })).toEqual([]);
  });
});

describe('removing a strategy', () => {
  it('keeps the order of the other strategies, and the switch', () => {
    const flag = after(FLAG, removeStrategy(FLAG, TWO));
    expect(flag?.environments[0]).toEqual(environmentState('production', ['one', 'three'], { enabled: true }));
  });

  it('switches the environment off with its last strategy, by a separate event', () => {
    const flag = flagState({ environments: [environmentState('production', ['two'], { enabled: true })] });
    const events = removeStrategy(flag, TWO);
    expect(events).toEqual([
      { type: 'strategy-removed', environment: 'production', data: null, before: strategyState('two') },
      { type: 'environment-disabled', environment: 'production', data: { enabled: false }, before: { enabled: true } },
    ]);
    expect(after(flag, events)).toEqual(flagState({ environments: [environmentState('production', [])] }));
  });

  it('is one event in an environment that is off, for the last strategy too', () => {
    expect(removeStrategy(FLAG, { environment: 'development', strategy: 'other' })).toHaveLength(1);
  });
});

describe('a strategy', () => {
  const decisions = {
    replaced: (flag = FLAG, place = TWO) => replaceStrategy(flag, place, { name: 'default' }),
    removed: (flag = FLAG, place = TWO) => removeStrategy(flag, place),
    found: (flag = FLAG, place = TWO) => findStrategy(flag, place),
  };

  it.each(Object.entries(decisions))('can be %s only in its own environment', (_, decide) => {
    for (const [environment, strategy] of [
      ['production', 'other'],
      ['development', 'two'],
      ['staging', 'two'],
      ['production', '__proto__'],
    ]) {
      const place = { environment: String(environment), strategy: String(strategy) };
      expect(refusalOf(() => decide(FLAG, place)).code).toBe('strategy_not_found');
    }
  });

  it('cannot be added, replaced or removed in an archived flag', () => {
    const archived = { ...FLAG, archived: true };
    const { replaced, removed } = decisions;
    for (const decide of [replaced, removed]) {
      expect(refusalOf(() => decide(archived)).code).toBe('flag_archived');
    }
    expect(refusalOf(() => addStrategy(archived, 'production', strategyState('x'))).code).toBe('flag_archived');
  });
});

function variantState(name: string, weight: number, changes: Partial<Variant> = {}): Variant {
  return { name, weightType: 'variable', weight, stickiness: 'default', overrides: [], ...changes };
}

describe('setting variants', () => {
  it('is one event, with defaults filled in and weights computed', () => {
    const events = setVariants(flagState(), [{ name: 'a' }, { name: 'b', weightType: 'fix', weight: 100 }]);
    const variants = [variantState('a', 900), variantState('b', 100, { weightType: 'fix' })];
    expect(events).toEqual([{ type: 'variants-updated', data: { variants }, before: { variants: [] } }]);
    expect(after(flagState(), events)).toEqual(flagState({ variants }));
  });

  it('keeps payload, stickiness and overrides, and adds no other members', () => {
    const payload = { type: 'json', value: '{}' } as const;
    const overrides = [{ contextName: 'userId', values: ['7'] }];
    const input: VariantInput[] = [{ name: 'a', stickiness: 'userId', payload, overrides }, { name: 'b' }];
    const flag = after(flagState(), setVariants(flagState(), input));
    expect(flag?.variants[0]).toEqual(variantState('a', 500, { stickiness: 'userId', payload, overrides }));
    expect(flag?.variants[1]).not.toHaveProperty('payload');
  });

  it('causes no event without a difference', () => {
    const flag = flagState({ variants: [variantState('a', 1000)] });
    expect(setVariants(flag, [{ name: 'a', weightType: 'variable', weight: 7 }])).toEqual([]);
    expect(setVariants(flagState(), [])).toEqual([]);
  });

  it('causes an event for another order', () => {
    const flag = flagState({ variants: [variantState('a', 500), variantState('b', 500)] });
    expect(setVariants(flag, [{ name: 'b' }, { name: 'a' }])).toHaveLength(1);
  });

  it('is refused for an archived flag', () => {
    expect(refusalOf(() => setVariants(flagState({ archived: true }), [])).code).toBe('flag_archived');
  });
});

const ON = { flag: 'payments', enabled: true, variants: [] };
const OFF = { ...ON, enabled: false };
const child = flagState();
const parent = flagState({ name: 'payments' });
const alone = { parent, children: [] };

describe('depending on a flag', () => {
  it('is one event, and none when nothing changes', () => {
    const events = addDependency(child, ON, alone);
    expect(events).toEqual([{ type: 'dependency-added', data: ON, before: null }]);
    const dependent = flagState({ dependencies: [ON] });
    expect(after(child, events)).toEqual(dependent);
    expect(addDependency(dependent, { ...ON, variants: [] }, alone)).toEqual([]);
  });

  it('updates an existing dependency in its place', () => {
    const [basket, search] = [
      { ...ON, flag: 'basket' },
      { ...ON, flag: 'search' },
    ];
    const dependent = flagState({ dependencies: [basket, ON, search] });
    const events = addDependency(dependent, OFF, alone);
    expect(events).toEqual([{ type: 'dependency-updated', data: OFF, before: ON }]);
    expect(after(dependent, events)?.dependencies).toEqual([basket, OFF, search]);
  });

  it('appends to the other dependencies', () => {
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

  it('is refused above the limit, and accepted at the limit', () => {
    expect(addDependency(flagState({ dependencies: dependencies.slice(1) }), ON, alone)).toHaveLength(1);
    const { code, message } = refusalOf(() => addDependency(full, ON, alone));
    expect(code).toBe('invalid_input');
    expect(message).toBe(
      `The flag checkout depends on ${LIMITS.dependencies} other flags, which is the maximum; remove a dependency first.`,
    );
  });

  it('can still be changed at the limit', () => {
    const changed = { ...OFF, flag: 'parent-0' };
    const events = addDependency(full, changed, { parent: flagState({ name: 'parent-0' }), children: [] });
    expect(events).toEqual([{ type: 'dependency-updated', data: changed, before: dependencies[0] }]);
  });
});

describe('removing dependencies', () => {
  const dependent = flagState({ dependencies: [ON, { ...ON, flag: 'search' }] });

  it('keeps the other dependencies', () => {
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

  it('is refused without the dependency, and for an archived flag', () => {
    expect(refusalOf(() => removeDependency(child, 'payments')).code).toBe('dependency_not_found');
    expect(refusalOf(() => removeDependency({ ...dependent, archived: true }, 'payments')).code).toBe('flag_archived');
    expect(refusalOf(() => removeDependencies({ ...dependent, archived: true })).code).toBe('flag_archived');
  });

  it('is one event for each of all dependencies', () => {
    const events = removeDependencies(dependent);
    expect(events.map(({ before }) => before)).toEqual(dependent.dependencies);
    expect(after(dependent, events)?.dependencies).toEqual([]);
    expect(removeDependencies(child)).toEqual([]);
  });
});
