import type { JsonPatch } from '../../src/base/common.types.js';
import { LIMITS } from '../../src/base/limits.js';
import {
  addStrategy,
  findStrategy,
  patchStrategy,
  removeStrategy,
  replaceStrategy,
  toStrategy,
} from '../../src/flags/strategies.decide.js';
import { validate } from '../base/default-validators.js';
import { after, environmentState, flagState, strategyState } from './flag-states.js';
import { refusalOf } from './refusal.js';

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

describe('a strategy made of input', () => {
  it('has empty constraints and parameters when they are absent, and no other members', () => {
    expect(toStrategy('id', { name: 'default' })).toEqual({
      id: 'id',
      name: 'default',
      constraints: [],
      parameters: {},
    });
  });

  it('keeps null parameters and every optional member that is given, and drops what is not known', () => {
    const input = { name: 'x', parameters: null, title: '', disabled: false, sortOrder: 0, segments: [], variants: [] };
    expect(toStrategy('id', { ...input, ...{ unknown: 1, id: 'other' } })).toEqual({
      id: 'id',
      constraints: [],
      ...input,
    });
  });
});

describe('adding a strategy', () => {
  it('puts it after those that are there, and switches nothing', () => {
    const events = addStrategy(FLAG, 'production', strategyState('four'));
    expect(events).toEqual([
      { type: 'strategy-added', environment: 'production', data: strategyState('four'), before: null },
    ]);
    expect(after(FLAG, events)?.environments).toEqual([
      environmentState('production', ['one', 'two', 'three', 'four'], { enabled: true }),
      environmentState('development', ['other']),
    ]);
  });

  it.each(['staging', '__proto__', 'constructor'])('begins the configuration of an environment: %s', (environment) => {
    const flag = after(flagState(), addStrategy(flagState(), environment, strategyState('one')));
    expect(flag?.environments).toEqual([environmentState(environment, ['one'])]);
  });
});

describe('adding many strategies', () => {
  it('is refused beyond the limit of an environment, which may be reached', () => {
    const ids = Array.from({ length: LIMITS.strategiesPerEnvironment }, (_, at) => `s-${at}`);
    const holding = (held: readonly string[]) => flagState({ environments: [environmentState('production', held)] });
    expect(addStrategy(holding(ids.slice(1)), 'production', strategyState('new'))).toHaveLength(1);
    const full = holding(ids);
    expect(addStrategy(full, 'development', strategyState('new'))).toHaveLength(1);
    const { code, message } = refusalOf(() => addStrategy(full, 'production', strategyState('new')));
    expect(code).toBe('invalid_input');
    expect(message).toBe(
      `The flag checkout has ${ids.length} strategies in production, and cannot have more; remove one first.`,
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

  it('by an equal value causes no event, whatever the order of members is', () => {
    expect(replaceStrategy(FLAG, TWO, { parameters: {}, constraints: [], name: 'default' })).toEqual([]);
  });
});

describe('patching a strategy', () => {
  const strategies = [strategyState('two', { parameters: { rollout: 5, groupId: 'g' }, title: 'Title', sortOrder: 3 })];
  const flag = flagState({ environments: [{ name: 'production', enabled: true, strategies }] });

  function patched(...patch: JsonPatch) {
    return after(flag, patchStrategy(flag, TWO, { patch, validate: validate.strategy }))?.environments[0]
      ?.strategies[0];
  }

  it.each<[JsonPatch[number], object]>([
    [{ op: 'replace', path: '/parameters/rollout', value: 50 }, { parameters: { rollout: 50, groupId: 'g' } }],
    [
      { op: 'add', path: '/parameters/stickiness', value: 'userId' },
      { parameters: { rollout: 5, groupId: 'g', stickiness: 'userId' } },
    ],
    [{ op: 'remove', path: '/parameters/rollout' }, { parameters: { groupId: 'g' } }],
    [{ op: 'remove', path: '/parameters' }, { parameters: {} }],
    [{ op: 'replace', path: '/parameters', value: null }, { parameters: null }],
    [{ op: 'replace', path: '/name', value: 'own' }, { name: 'own' }],
    [{ op: 'add', path: '/disabled', value: true }, { disabled: true }],
    [
      { op: 'add', path: '/constraints/-', value: { contextName: 'a', operator: 'IN', values: ['b'] } },
      { constraints: [{ contextName: 'a', operator: 'IN', values: ['b'] }] },
    ],
    [{ op: 'copy', from: '/id', path: '/title' }, { title: 'two' }],
    [{ op: 'replace', path: '/id', value: 'stolen' }, {}],
    [{ op: 'remove', path: '/id' }, {}],
  ])('does %j', (operation, changes) => {
    expect(patched(operation)).toEqual({ ...strategies[0], ...changes });
  });

  it('can take an optional member away', () => {
    expect(patched({ op: 'remove', path: '/title' })).not.toHaveProperty('title');
  });

  it('causes no event without a difference', () => {
    const patch: JsonPatch = [{ op: 'test', path: '/parameters/rollout', value: 5 }];
    expect(patchStrategy(flag, TWO, { patch, validate: validate.strategy })).toEqual([]);
  });

  it.each<[JsonPatch[number], string]>([
    [{ op: 'replace', path: '/unknown', value: 1 }, 'invalid_patch'],
    [{ op: 'add', path: '/unknown', value: 1 }, 'invalid_patch'],
    [{ op: 'add', path: '', value: { name: 'default' } }, 'invalid_patch'],
    [{ op: 'replace', path: '/segments', value: [] }, 'invalid_patch'],
    [{ op: 'add', path: '/constraints/1', value: {} }, 'invalid_patch'],
    [{ op: 'test', path: '/id', value: 'three' }, 'patch_test_failed'],
    [{ op: 'remove', path: '/name' }, 'invalid_input'],
    [{ op: 'add', path: '/constraints/-', value: {} }, 'invalid_input'],
    [{ op: 'add', path: '/parameters/deep', value: {} }, 'invalid_input'],
  ])('is refused for %j with %s', (operation, code) => {
    expect(refusalOf(() => patched(operation)).code).toBe(code);
  });

  it('must give a strategy of flexibleRollout a percentage', () => {
    const refusal = refusalOf(() =>
      patched(
        { op: 'replace', path: '/name', value: 'flexibleRollout' },
        { op: 'replace', path: '/parameters/rollout', value: 101 },
      ),
    );
    expect(refusal).toMatchObject({ code: 'invalid_input', details: [{ path: '/parameters/rollout' }] });
  });
});

describe('removing a strategy', () => {
  it('keeps the order of the others, and the switch', () => {
    const flag = after(FLAG, removeStrategy(FLAG, TWO));
    expect(flag?.environments[0]).toEqual(environmentState('production', ['one', 'three'], { enabled: true }));
  });

  it('switches an environment off with its last, by an event of its own', () => {
    const flag = flagState({ environments: [environmentState('production', ['two'], { enabled: true })] });
    const events = removeStrategy(flag, TWO);
    expect(events).toEqual([
      { type: 'strategy-removed', environment: 'production', data: null, before: strategyState('two') },
      { type: 'environment-disabled', environment: 'production', data: { enabled: false }, before: { enabled: true } },
    ]);
    expect(after(flag, events)).toEqual(flagState({ environments: [environmentState('production', [])] }));
  });

  it('of an environment that is off is one event, the last one too', () => {
    expect(removeStrategy(FLAG, { environment: 'development', strategy: 'other' })).toHaveLength(1);
  });
});

describe('a strategy', () => {
  const decisions = {
    replaced: (flag = FLAG, place = TWO) => replaceStrategy(flag, place, { name: 'default' }),
    patched: (flag = FLAG, place = TWO) => patchStrategy(flag, place, { patch: [], validate: validate.strategy }),
    removed: (flag = FLAG, place = TWO) => removeStrategy(flag, place),
    found: (flag = FLAG, place = TWO) => findStrategy(flag, place),
  };

  it.each(Object.entries(decisions))('is %s only where it is', (_, decide) => {
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

  it('of an archived flag is neither added, replaced, patched nor removed', () => {
    const archived = { ...FLAG, archived: true };
    const { replaced, patched, removed } = decisions;
    for (const decide of [replaced, patched, removed]) {
      expect(refusalOf(() => decide(archived)).code).toBe('flag_archived');
    }
    expect(refusalOf(() => addStrategy(archived, 'production', strategyState('x'))).code).toBe('flag_archived');
  });
});
