import {
  type DescribedSide,
  describeFlag,
  describeParent,
  describeSegment,
  effectBetween,
} from '../../src/features/flags/effect.decide.js';
import type { FlagState } from '../../src/features/flags/flag.js';
import type { Strategy } from '../../src/features/flags/strategy.types.js';
import type { StrategyRollout } from '../../src/features/flags/strategy-rollout.types.js';
import { gradual, rollingFlag, rolloutState } from '../rollouts/rollout-states.js';
import { DAY } from '../settable-clock.js';
import { environmentState, flagState } from './flag-states.js';

const SIDE: DescribedSide = { flag: () => undefined, segment: (id) => `segment ${id}`, parent: () => null };

const describeIn = (flag: FlagState | undefined, side: Partial<DescribedSide> = {}) =>
  describeFlag(flag, 'production', { ...SIDE, ...side });

describe('what clients see of a flag', () => {
  it('is that it is absent, off or on', () => {
    expect(describeIn(undefined)).toEqual({ state: 'absent' });
    expect(describeIn(flagState())).toEqual({ state: 'off', seen: false });
    expect(describeIn(rollingFlag(undefined))).toMatchObject({ state: 'on' });
  });

  const payload = { type: 'string', value: 'x' } as const;
  const variant = { name: 'red', weightType: 'variable', weight: 1000, stickiness: 'default' } as const;

  it.each<[string, FlagState, boolean]>([
    ['without variants', rollingFlag(undefined, { enabled: false }), false],
    ['with variants', rollingFlag(undefined, { enabled: false }, { variants: [variant] as never }), false],
    [
      'with a payload',
      rollingFlag(undefined, { enabled: false }, { variants: [{ ...variant, payload }] as never }),
      true,
    ],
    [
      'with a payload of a strategy',
      rollingFlag(undefined, {
        enabled: false,
        strategies: [gradual({ variants: [variant, { ...variant, payload }] })],
      }),
      true,
    ],
    [
      'with a payload of a disabled strategy',
      rollingFlag(undefined, {
        enabled: false,
        strategies: [gradual({ disabled: true, variants: [{ ...variant, payload }] })],
      }),
      false,
    ],
  ])('that is off %s is whether there are payloads', (_, flag, seen) => {
    expect(describeIn(flag)).toEqual({ state: 'off', seen });
  });

  it('that is on is its definition, with defaults, sorted parameters and without ids', () => {
    const constraint = { contextName: 'country', operator: 'IN', values: ['DE'] } as const;
    const parameters = { rollout: 5, groupId: null, stickiness: 'default' };
    const strategy = gradual({
      title: 'All',
      parameters,
      constraints: [constraint],
      segments: [7],
      variants: [variant],
    });
    const { weightType: _weightType, ...seenVariant } = variant;
    expect(describeIn(rollingFlag(undefined, { strategies: [strategy] }, { variants: [variant] as never }))).toEqual({
      state: 'on',
      seen: {
        strategies: [
          {
            name: 'flexibleRollout',
            parameters: [
              ['groupId', null],
              ['rollout', '5'],
              ['stickiness', 'default'],
            ],
            constraints: [{ ...constraint, inverted: false, caseInsensitive: false }],
            segments: ['segment 7'],
            variants: [seenVariant],
          },
        ],
        variants: [seenVariant],
        parents: [],
      },
    });
  });

  it('without optional members is a definition with empty lists', () => {
    const seen = { strategies: [{ name: 'default', parameters: [], constraints: [], segments: [], variants: [] }] };
    const flag = flagState({ environments: [environmentState('production', ['s-1'], { enabled: true })] });
    expect(describeIn(flag)).toEqual({ state: 'on', seen: { ...seen, variants: [], parents: [] } });
    const off = flagState({ environments: [environmentState('production', ['s-1'])] });
    const parentOf = (parent: FlagState) => describeParent('checkout', 'production', { ...SIDE, flag: () => parent });
    expect(parentOf(flag)).toEqual({ ...seen, variants: [] });
    expect(parentOf(off)).toBeNull();
  });

  it('of a segment that is gone is null', () => {
    expect(describeSegment(undefined)).toBeNull();
    expect(describeSegment(null)).toBeNull();
    expect(describeSegment({ constraints: [] })).toEqual([]);
  });
});

describe('an effect', () => {
  const on = (seen: unknown) => ({ state: 'on', seen }) as const;
  const off = (seen: boolean) => ({ state: 'off', seen }) as const;
  const absent = { state: 'absent' } as const;

  it.each([
    [on(1), on(1), undefined],
    [on(1), on(2), { before: 'on', after: 'on', changed: true }],
    [on(1), off(false), { before: 'on', after: 'off' }],
    [off(false), off(true), { before: 'off', after: 'off' }],
    [off(false), off(false), undefined],
    [off(false), on(1), { before: 'off', after: 'on' }],
    [absent, off(false), { before: 'absent', after: 'off' }],
    [absent, absent, undefined],
  ] as const)('from %j to %j is %j', (before, after, expected) => {
    expect(effectBetween(before, after)).toEqual(expected);
  });
});

// Approvals describe a strategy that rolls out by its steps in place of its percentage.
describe('the plan of a rollout', () => {
  /** Returns the first strategy as an approval describes it, if the flag was as given before. */
  function strategyIn(flag: FlagState, before: FlagState | undefined) {
    const { seen } = describeIn(flag, { before: () => before });
    return (seen as { readonly strategies: readonly object[] }).strategies[0];
  }

  /** The same without a change. */
  const strategyOf = (flag: FlagState) => strategyIn(flag, flag);

  const planOf = ({ steps, guarded, startedFrom }: StrategyRollout) => ({ steps, guarded, startedFrom });
  const rolling = (changes: Partial<StrategyRollout> = {}, rollout: unknown = '5') =>
    rollingFlag(rolloutState(changes), { strategies: [gradual({ parameters: { groupId: 'a', rollout } as never })] });

  it('replaces the percentage, and covers every step and state', () => {
    const described = strategyOf(rolling());
    expect(described).toMatchObject({ parameters: [['groupId', 'a']], plan: planOf(rolloutState()) });
    expect(strategyOf(rolling({ step: 1, state: 'paused', author: { name: 'Grace' } }, '100'))).toEqual(described);
  });

  it.each<[string, Partial<StrategyRollout>]>([
    ['list of steps', { steps: [{ percentage: 5, hold: DAY }] }],
    ['guard', { guarded: true }],
    ['start', { startedFrom: { value: '2' } }],
  ])('differs with another %s', (_, changes) => {
    expect(strategyOf(rolling(changes))).not.toEqual(strategyOf(rolling()));
  });

  it('is left out of what clients see, which is the percentage', () => {
    const { seen } = describeIn(rolling());
    const parameters = [
      ['groupId', 'a'],
      ['rollout', '5'],
    ];
    const lists = { constraints: [], segments: [], variants: [] };
    const strategies = [{ name: 'flexibleRollout', parameters, ...lists }];
    expect(seen).toStrictEqual({ strategies, variants: [], parents: [] });
  });

  const ended = (parameters: Strategy['parameters'], changes: Parameters<typeof gradual>[0] = {}) =>
    rollingFlag(undefined, { strategies: [gradual({ parameters, ...changes })] });
  const started = (
    startedFrom: StrategyRollout['startedFrom'],
    parameters: Strategy['parameters'] = { rollout: '5' },
  ) => rollingFlag(rolloutState({ startedFrom }), { strategies: [gradual({ parameters })] });

  it.each<[string, FlagState, FlagState, boolean]>([
    ['the present percentage', ended({ rollout: '5' }), started({ value: '1' }), true],
    ['the present percentage as a number', ended({ rollout: 5 }), started({ value: '1' }), true],
    ['the percentage from before the start', ended({ rollout: '1' }), started({ value: '1' }), true],
    ['the percentage from before the start as a number', ended({ rollout: '1' }), started({ value: 1 }), true],
    ['another percentage', ended({ rollout: '2' }), started({ value: '1' }), false],
    ['no percentage, as before the start', ended({}), started({}), true],
    ['null, where no percentage was before the start', ended({ rollout: null }), started({}), true],
    ['no percentage, where null was before the start', ended({}), started({ value: null }), true],
    ['no parameters, as before the start', ended(null), started(null), true],
    ['no percentage, unlike before the start', ended({}), started({ value: '1' }), false],
    ['the text of no value', ended({ rollout: 'undefined' }), started({}), false],
    ['the text of null', ended({ rollout: 'null' }), started({ value: null }), false],
    ['another strategy', ended({ rollout: '5' }, { id: 's-2' }), started({ value: '1' }), false],
    ['a strategy of another name', ended({ rollout: '5' }, { name: 'own' }), started({ value: '1' }), false],
    [
      'a name whose percentage is another parameter',
      ended({ percentage: '5' }, { name: 'gradualRolloutUserId' }),
      started({ value: '1' }, { percentage: '5' }),
      false,
    ],
    ['no rollout before', ended({ rollout: '5' }), ended({ rollout: '5' }), false],
  ])('of a rollout that ends with %s', (_, flag, before, isSame) => {
    const described = strategyIn(flag, before);
    if (isSame) expect(described).toEqual(strategyOf(before));
    else expect(described).not.toHaveProperty('plan');
  });

  it('is the one of the strategy with its id', () => {
    const first = gradual({ parameters: { rollout: '9' } });
    const second = { ...gradual(), id: 's-2' };
    const rollouts = { 's-2': rolloutState() };
    const before = rollingFlag(undefined, { strategies: [first, second], rollouts });
    const { seen } = describeIn(rollingFlag(undefined, { strategies: [first, second] }), { before: () => before });
    expect(seen).toEqual(describeIn(before, { before: () => before }).seen);
    expect(seen).toMatchObject({ strategies: [{ parameters: [['rollout', '9']] }, { plan: planOf(rolloutState()) }] });
  });

  it('of a flag that was not there before is that of its own rollout', () => {
    expect(strategyIn(rolling(), undefined)).toEqual(strategyOf(rolling()));
    expect(strategyIn(ended({ rollout: '5' }), undefined)).toMatchObject({ parameters: [['rollout', '5']] });
  });
});
