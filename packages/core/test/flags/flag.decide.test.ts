import {
  archiveFlag,
  type CloneOrigin,
  changeMetadata,
  cloneFlag,
  createFlag,
  deleteFlag,
  reviveFlag,
} from '../../src/features/flags/flag.decide.js';
import type { FlagChanges } from '../../src/features/flags/flag.types.js';
import { disable, enable } from '../../src/features/flags/strategies.decide.js';
import { refusalOf } from '../decision.js';
import { after, environmentState, flagState, strategyState } from './flag-states.js';

describe('the lifecycle of a flag', () => {
  const BIRTH = { project: 'shop', createdAt: '2026-02-02T00:00:00.000Z' };

  const NOW = '2026-03-03T00:00:00.000Z';

  describe('creating a flag', () => {
    it('returns a live flag with the defaults', () => {
      const events = createFlag(undefined, { name: 'a', type: 'release' }, BIRTH);
      expect(events).toMatchObject([{ type: 'flag-created', before: null }]);
      expect(after(undefined, events)).toEqual({
        name: 'a',
        project: 'shop',
        description: '',
        type: 'release',
        stale: false,
        impressionData: false,
        archived: false,
        createdAt: BIRTH.createdAt,
        variants: [],
        dependencies: [],
        environments: [],
        labels: [],
        owner: null,
      });
    });

    it('keeps every member of the input, also a null description, and adds none', () => {
      const input = {
        name: 'a',
        type: 'operational',
        description: null,
        impressionData: true,
        archived: true,
        stale: true,
      };
      expect(after(undefined, createFlag(undefined, input, BIRTH))).toMatchObject({
        description: null,
        type: 'operational',
        impressionData: true,
        archived: false,
        stale: false,
      });
    });

    it.each([{}, { archived: true }, { project: 'other' }])('refuses a taken name: %j', (changes) => {
      const decision = () => createFlag(flagState(changes), { name: 'checkout', type: 'release' }, BIRTH);
      expect(refusalOf(decision).code).toBe('flag_exists');
    });
  });

  describe('archiving a flag', () => {
    const flag = flagState({
      environments: [environmentState('production', ['s'], { enabled: true }), environmentState('development', ['t'])],
    });

    it('keeps its strategies and switches, and records where it was on', () => {
      const events = archiveFlag(flag, [], NOW);
      expect(events).toEqual([
        {
          type: 'flag-archived',
          data: { archived: true, enabledIn: ['production'], archivedAt: NOW },
          before: { archived: false, enabledIn: ['production'] },
        },
      ]);
      expect(after(flag, events)).toEqual({ ...flag, archived: true, archivedAt: NOW });
    });

    it('causes no event the second time', () => {
      expect(archiveFlag({ ...flag, archived: true }, [], NOW)).toEqual([]);
    });

    it('is refused while others depend on it, naming them', () => {
      const error = refusalOf(() => archiveFlag(flag, ['basket', 'stock'], NOW));
      expect(error.code).toBe('flag_has_children');
      expect(error.message).toContain('basket, stock');
    });
  });

  describe('reviving a flag', () => {
    const archived = flagState({
      archived: true,
      archivedAt: NOW,
      environments: [environmentState('production', ['s'], { enabled: true })],
    });

    it('switches it off everywhere, with its strategies', () => {
      const events = reviveFlag(archived);
      const before = { archived: true, enabledIn: ['production'] };
      expect(events).toEqual([{ type: 'flag-revived', data: { archived: false, enabledIn: [] }, before }]);
      expect(after(archived, events)).toEqual(flagState({ environments: [environmentState('production', ['s'])] }));
    });

    it('causes no event for a flag that is not archived', () => {
      expect(reviveFlag(flagState())).toEqual([]);
    });
  });

  describe('deleting a flag', () => {
    it('removes the whole state of an archived flag', () => {
      const archived = flagState({ archived: true });
      const events = deleteFlag(archived);
      expect(events).toEqual([{ type: 'flag-deleted', data: null, before: archived }]);
      expect(after(archived, events)).toBeUndefined();
    });

    it('is refused while it is not archived', () => {
      expect(refusalOf(() => deleteFlag(flagState())).code).toBe('flag_not_archived');
    });
  });

  describe('an event of a missing flag', () => {
    it('has no effect', () => {
      expect(after(undefined, archiveFlag(flagState(), [], NOW))).toBeUndefined();
    });
  });
});

const { environments: _environments, dependencies: _dependencies, ...HEAD } = flagState();

describe('changing metadata', () => {
  it('is one event with the flag after and before, without its environments', () => {
    const events = changeMetadata(flagState(), { description: 'new', type: 'release', impressionData: true });
    expect(events).toEqual([
      {
        type: 'flag-updated',
        data: { ...HEAD, description: 'new', impressionData: true },
        before: HEAD,
      },
    ]);
  });

  it('is a separate event for staleness, on and off', () => {
    expect(changeMetadata(flagState(), { stale: true })).toEqual([
      { type: 'flag-stale-on', data: { stale: true }, before: { stale: false } },
    ]);
    const stale = flagState({ stale: true });
    const events = changeMetadata(stale, { stale: false, type: 'operational' });
    expect(events).toMatchObject([{ type: 'flag-updated' }, { type: 'flag-stale-off' }]);
    expect(after(stale, events)).toEqual(flagState({ type: 'operational' }));
  });

  it.each<FlagChanges>([{}, { stale: false }, { description: 'The new checkout', type: 'release' }])(
    'creates no event for values that stay the same: %j',
    (changes) => {
      expect(changeMetadata(flagState(), changes)).toEqual([]);
    },
  );

  it('clears a description by null, and keeps absent members', () => {
    expect(after(flagState(), changeMetadata(flagState(), { description: null }))).toEqual(
      flagState({ description: null }),
    );
  });

  it('replaces the labels, keeps their order, and clears the owner by null', () => {
    const flag = flagState({ labels: ['b', 'a'], owner: 'ada' });
    expect(after(flag, changeMetadata(flag, { labels: ['c', 'a'], owner: null }))).toEqual(
      flagState({ labels: ['c', 'a'], owner: null }),
    );
  });

  describe('the labels . and ..', () => {
    const issue = (index: number) => ({
      message: 'must not be . or .., because no path could name it',
      path: `/labels/${index}`,
    });

    it('are refused if they are new, with their places', () => {
      const { code, details } = refusalOf(() => changeMetadata(flagState(), { labels: ['.', 'a', '..', '...'] }));
      expect(code).toBe('invalid_input');
      expect(details).toEqual([issue(0), issue(2)]);
      const input = { name: 'a', type: 'release', labels: ['a', '..'] };
      const birth = { project: 'shop', createdAt: '2026-02-02T00:00:00.000Z' };
      expect(refusalOf(() => createFlag(undefined, input, birth)).details).toEqual([issue(1)]);
    });

    it('may stay in a flag that has them', () => {
      const flag = flagState({ labels: ['.'] });
      expect(after(flag, changeMetadata(flag, { labels: ['a', '.'] }))).toEqual(flagState({ labels: ['a', '.'] }));
      expect(refusalOf(() => changeMetadata(flag, { labels: ['.', '..'] })).details).toEqual([issue(1)]);
    });
  });

  it('never changes the identity of the flag', () => {
    const changes = { name: 'x', project: 'x', createdAt: 'x', archived: true, variants: [] } as FlagChanges;
    expect(changeMetadata(flagState(), changes)).toEqual([]);
  });

  it('is refused for an archived flag, even when nothing would change', () => {
    expect(refusalOf(() => changeMetadata(flagState({ archived: true }), {})).code).toBe('flag_archived');
  });
});

describe('copying a flag', () => {
  const BIRTH: CloneOrigin = {
    name: 'copy',
    createdAt: '2026-02-02T00:00:00.000Z',
    idFor: (strategy) => `copy-of-${strategy}`,
    dependencies: [],
  };

  const variant = { name: 'a', weightType: 'variable', weight: 1000, stickiness: 'default', overrides: [] } as const;

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

  it('copies everything except the history: new times and strategy ids, off everywhere', () => {
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

  it('has the same result however often it is decided', () => {
    expect(cloneFlag(undefined, source, BIRTH)).toEqual(cloneFlag(undefined, source, BIRTH));
  });

  it('does not change the source', () => {
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
  ])('copies the parameters %j as %j', (parameters, expected) => {
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

  it('keeps the given values when the source changes', () => {
    const dependencies = [{ flag: 'payments', enabled: true, variants: [] }];
    const dependent = flagState({ dependencies: [...dependencies, { flag: 'search', enabled: true, variants: [] }] });
    const birth = { ...BIRTH, dependencies };
    expect(after(undefined, cloneFlag(undefined, dependent, birth))).toMatchObject({ dependencies });
    expect(after(undefined, cloneFlag(undefined, dependent, BIRTH))).toMatchObject({ dependencies: [] });
  });
});

const FLAG = flagState({
  environments: [
    environmentState('on', ['s'], { enabled: true }),
    environmentState('off', ['s']),
    environmentState('bare', []),
  ],
});

describe('switching on', () => {
  it('is one event, for that environment only', () => {
    const events = enable(FLAG, 'off');
    expect(events).toEqual([
      { type: 'environment-enabled', environment: 'off', data: { enabled: true }, before: { enabled: false } },
    ]);
    expect(after(FLAG, events)?.environments.map(({ enabled }) => enabled)).toEqual([true, true, false]);
  });

  it('causes no event in an enabled environment', () => {
    expect(enable(FLAG, 'on')).toEqual([]);
  });

  it.each(['bare', 'never-configured', '__proto__', 'constructor'])(
    'is refused without strategies: %s',
    (environment) => {
      expect(refusalOf(() => enable(FLAG, environment)).code).toBe('environment_has_no_strategies');
    },
  );

  it('is refused for an archived flag, also where it is on', () => {
    for (const environment of ['on', 'off', 'bare']) {
      expect(refusalOf(() => enable({ ...FLAG, archived: true }, environment)).code).toBe('flag_archived');
    }
  });
});

describe('switching off', () => {
  it('is one event, and keeps the strategies', () => {
    const events = disable(FLAG, 'on');
    expect(events).toEqual([
      { type: 'environment-disabled', environment: 'on', data: { enabled: false }, before: { enabled: true } },
    ]);
    expect(after(FLAG, events)?.environments[0]).toEqual(environmentState('on', ['s']));
  });

  it.each(['off', 'bare', 'never-configured'])('causes no event in a disabled environment: %s', (environment) => {
    expect(disable(FLAG, environment)).toEqual([]);
  });

  it('is refused for an archived flag, also where it is off', () => {
    for (const environment of ['on', 'off', 'bare']) {
      expect(refusalOf(() => disable({ ...FLAG, archived: true }, environment)).code).toBe('flag_archived');
    }
  });
});
