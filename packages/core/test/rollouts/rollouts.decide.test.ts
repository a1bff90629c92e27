import type { FlagState } from '../../src/features/flags/flag.js';
import type { FlagEvent } from '../../src/features/flags/flag.kind.js';
import {
  advanceRollout,
  keepPercentage,
  nextAtOf,
  pauseRollout,
  pointerTo,
  resumeRollout,
  startedRollouts,
  startRollout,
  stopRollout,
  withEndedRollouts,
  withPercentage,
} from '../../src/features/flags/rollouts.decide.js';
import type { Strategy } from '../../src/features/flags/strategy.types.js';
import { refusalOf } from '../decision.js';
import { strategyState } from '../flags/flag-states.js';
import { DAY } from '../settable-clock.js';
import { DUE, gradual, LOCATION, rollingFlag, rolloutState, SINCE } from './rollout-states.js';

const { steps } = rolloutState();
const ORIGIN = { author: { name: 'Ada' }, at: SINCE };

describe('the start of a rollout', () => {
  const start = (flag: FlagState) => startRollout(flag, LOCATION, { steps, guarded: false }, ORIGIN);

  it('is one event for the rollout, and one for the first percentage', () => {
    const before = gradual({ parameters: { rollout: '1' } });
    expect(start(rollingFlag(undefined, { strategies: [before] }))).toEqual([
      {
        type: 'rollout-started',
        environment: 'production',
        data: { strategy: 's-1', rollout: rolloutState() },
        before: null,
      },
      { type: 'strategy-updated', environment: 'production', data: gradual(), before },
    ]);
  });

  it.each<[string, FlagState, Pick<ReturnType<typeof refusalOf>, 'code' | 'message' | 'details'>]>([
    [
      'without a percentage',
      rollingFlag(undefined, { strategies: [gradual({ name: 'userWithId' })] }),
      {
        code: 'invalid_input',
        message: expect.any(String),
        details: [{ message: 'must name a strategy with a percentage; userWithId has none', path: '/ref/strategy' }],
      },
    ],
    [
      'that is disabled',
      rollingFlag(undefined, { strategies: [gradual({ disabled: true })] }),
      {
        code: 'environment_disabled',
        message:
          'The strategy is disabled in production; switch it on first, because switching it on later would end the rollout.',
        details: expect.any(Array),
      },
    ],
    [
      'of a flag that is off there',
      rollingFlag(undefined, { enabled: false }),
      {
        code: 'environment_disabled',
        message:
          'The flag checkout is off in production; switch it on first, because switching it on later would end the rollout.',
        details: expect.any(Array),
      },
    ],
    [
      'that rolls out',
      rollingFlag(rolloutState()),
      {
        code: 'rollout_exists',
        message: 'The strategy s-1 of checkout has a rollout already; stop it, or wait for its end.',
        details: expect.any(Array),
      },
    ],
  ])('is refused for a strategy %s', (_, flag, refusal) => {
    expect(refusalOf(() => start(flag))).toMatchObject(refusal);
  });
});

describe('a pause', () => {
  it('ends by a resumption', () => {
    const rollout = rolloutState();
    const paused = rolloutState({ state: 'paused' });
    const data = (one: typeof rollout) => ({ strategy: 's-1', rollout: one });
    const environment = 'production';
    expect(pauseRollout(rollingFlag(rollout), LOCATION)).toEqual([
      { type: 'rollout-paused', environment, data: data(paused), before: data(rollout) },
    ]);
    expect(resumeRollout(rollingFlag(paused), LOCATION)).toEqual([
      { type: 'rollout-resumed', environment, data: data(rollout), before: data(paused) },
    ]);
  });

  it.each(['running', 'waiting'] as const)('is not there to end in a rollout that is %s', (state) => {
    expect(resumeRollout(rollingFlag(rolloutState({ state })), LOCATION)).toEqual([]);
  });

  it('comes once', () => {
    expect(pauseRollout(rollingFlag(rolloutState({ state: 'paused' })), LOCATION)).toEqual([]);
  });
});

describe('a step by a person', () => {
  const before = new Date(Date.parse(DUE) - 1).toISOString();

  it.each([
    ['before its time', before, true],
    ['at its time', DUE, undefined],
  ])('%s tells whether it is early', (_, at, early) => {
    const [stepped] = advanceRollout(rollingFlag(rolloutState()), LOCATION, { step: 1, at });
    expect(Object(stepped?.data).early).toBe(early);
    const [ended] = advanceRollout(rollingFlag(rolloutState({ steps: [{ percentage: 5, hold: DAY }] })), LOCATION, {
      step: undefined,
      at,
    });
    expect(Object(ended?.data).early).toBe(early);
  });

  it('takes the next step unless it names one, and no other', () => {
    const flag = rollingFlag(rolloutState());
    const advance = (step: number | undefined) => advanceRollout(flag, LOCATION, { step, at: DUE });
    expect(advance(undefined)).toEqual(advance(1));
    expect(advance(1)).toMatchObject([{ type: 'rollout-stepped' }, { type: 'strategy-updated' }]);
    expect(advance(0)).toEqual([]);
    expect(refusalOf(() => advance(2)).details).toEqual([
      { message: 'must be the next step, 1: a rollout takes one step at a time', path: '/step' },
    ]);
  });
});

describe('the end of a rollout', () => {
  const end = (reason: string) => ({
    type: 'rollout-ended',
    environment: 'production',
    data: { strategy: 's-1', rollout: null, reason },
    before: { strategy: 's-1', rollout: rolloutState() },
  });

  it('by a person is one event, which tells the rollout as it was', () => {
    expect(stopRollout(rollingFlag(rolloutState()), LOCATION, false)).toEqual([end('stopped')]);
  });

  it.each<[string, Strategy['parameters'], Partial<ReturnType<typeof rolloutState>>, Strategy['parameters']]>([
    ['a percentage', { rollout: '5', groupId: 'a' }, { startedFrom: { value: 1 } }, { rollout: 1, groupId: 'a' }],
    ['parameters without a percentage', { rollout: '5', groupId: 'a' }, { startedFrom: {} }, { groupId: 'a' }],
    ['no parameters', { rollout: '5' }, { startedFrom: null }, null],
  ])('with a rollback restores %s', (_, parameters, changes, expected) => {
    const flag = rollingFlag(rolloutState(changes), { strategies: [gradual({ parameters })] });
    const [, updated] = stopRollout(flag, LOCATION, true);
    expect(updated).toStrictEqual({
      type: 'strategy-updated',
      environment: 'production',
      data: gradual({ parameters: expected }),
      before: gradual({ parameters }),
      shrinks: true,
    });
  });

  it('with a rollback leaves the parameters of a strategy that has no percentage any more', () => {
    const own = gradual({ name: 'own', parameters: { rollout: '5' } });
    const flag = rollingFlag(rolloutState(), { strategies: [own] });
    expect(stopRollout(flag, LOCATION, true)).toEqual([end('rolled-back')]);
  });
});

describe('other changes of a flag', () => {
  const OTHER = { environment: 'production', strategy: 's-2' };
  const environment = 'production';
  const updated = (data: Strategy, before = gradual()): FlagEvent => ({
    type: 'strategy-updated',
    environment,
    data,
    before,
  });
  const ended: FlagEvent = {
    type: 'rollout-ended',
    environment,
    data: { strategy: 's-1', rollout: null, reason: 'changed' },
    before: { strategy: 's-1', rollout: rolloutState() },
  };

  function expectOutcome(strategy: Strategy, events: readonly FlagEvent[], ends: boolean) {
    const flag = rollingFlag(rolloutState(), { strategies: [strategy, { ...gradual(), id: 's-2' }] });
    expect(withEndedRollouts(flag, events)).toEqual(ends ? [ended, ...events] : events);
  }

  const VARIANT = { name: 'red', weightType: 'variable', weight: 1000, stickiness: 'default' } as const;

  it.each<[keyof Strategy, object, object]>([
    ['title', { title: 'One' }, { title: 'Other' }],
    ['disabled', { disabled: false }, { disabled: true }],
    ['segments', { segments: [1] }, { segments: [2] }],
    ['variants', { variants: [VARIANT] }, { variants: [{ ...VARIANT, name: 'blue' }] }],
    ['parameters', { parameters: { rollout: '5' } }, { parameters: { rollout: '6' } }],
  ])('of its %s end a rollout', (_, before, after) => {
    expectOutcome(gradual(before), [updated(gradual(after), gradual(before))], true);
  });

  it.each<[keyof Strategy, object]>([
    ['title', { title: '' }],
    ['disabled', { disabled: false }],
    ['segments', { segments: [] }],
    ['variants', { variants: [] }],
  ])('that name the default of its %s do not', (_, members) => {
    expectOutcome(gradual(), [updated(gradual(members))], false);
    expectOutcome(gradual(members), [updated(gradual(), gradual(members))], false);
  });

  it('of its sortOrder do not', () => {
    expectOutcome(gradual(), [updated(gradual({ sortOrder: 3 }))], false);
  });

  it('of the strategy end it, although another rollout moves in the same set', () => {
    const stepped = advanceRollout(
      rollingFlag(undefined, { strategies: [{ ...gradual(), id: 's-2' }], rollouts: { 's-2': rolloutState() } }),
      OTHER,
      { step: undefined, at: DUE },
    );
    expectOutcome(gradual(), [...stepped, updated(gradual({ title: 'New' }))], true);
    expectOutcome(gradual(), stepped, false);
  });

  it('of a flag that is not there end nothing', () => {
    const events = [updated(gradual({ title: 'New' }))];
    expect(withEndedRollouts(undefined, events)).toBe(events);
  });
});

describe('the rollouts that a change set has started', () => {
  const without = rollingFlag(undefined);
  const started = rollingFlag(rolloutState());
  const stepped = rollingFlag(rolloutState({ step: 1, since: DUE }));
  const again = rollingFlag(rolloutState({ since: DUE }));
  const rollout = (hasStepped: boolean) => ({ ...LOCATION, hasStepped });

  it.each<[string, readonly (FlagState | undefined)[], readonly object[]]>([
    ['are on after its commit', [without, started, started], [rollout(false)]],
    ['are on in a flag that it has created', [undefined, started, started], [rollout(false)]],
    ['tell a step that was taken since', [without, started, stepped], [rollout(true)]],
    ['do not include those from before', [started, started, started], []],
    ['do not include those that it has moved', [started, stepped, stepped], []],
    ['include those that replace another', [started, again, again], [rollout(false)]],
    ['do not include those that have ended', [without, started, without], []],
    ['do not include those that were started again', [without, started, again], []],
    ['do not include those of a flag that is gone', [without, started, undefined], []],
    ['do not include those of a flag that it has deleted', [started, undefined, started], []],
  ])('%s', (_, [before, after, now], expected) => {
    expect(startedRollouts(before, after, now)).toEqual(expected);
  });

  it('have a place in the flag', () => {
    expect(pointerTo({ environment: 'qa/eu', strategy: 's-1' })).toBe('/environments/qa~1eu/rollouts/s-1');
  });
});

describe('the next step', () => {
  it.each([
    ['follows the hold', rolloutState(), Date.parse(DUE)],
    ['waits for a person', rolloutState({ steps: [{ percentage: 5, hold: null }] }), undefined],
  ])('%s', (_, rollout, expected) => {
    expect(nextAtOf(rollout)).toBe(expected);
  });
});

describe('the percentage', () => {
  const own = strategyState('s-1', { name: 'own' as never, parameters: { rollout: '5' } });

  it('of a strategy without one cannot be set', () => {
    expect(withPercentage(own, 60)).toStrictEqual(own);
  });

  it.each<[string, Strategy, Strategy, Strategy]>([
    [
      'keeps the present percentage',
      gradual({ parameters: { rollout: '60' } }),
      gradual(),
      gradual({ parameters: { rollout: '5' } }),
    ],
    [
      'keeps the present percentage beside other parameters',
      gradual({ title: 'New', parameters: { groupId: 'b' } }),
      gradual({ parameters: { rollout: 5, groupId: 'a' } }),
      gradual({ title: 'New', parameters: { groupId: 'b', rollout: 5 } }),
    ],
    [
      'sets a percentage if there is none',
      gradual({ parameters: { rollout: '60' } }),
      gradual({ parameters: {} }),
      gradual({ parameters: { rollout: '60' } }),
    ],
    [
      'sets a percentage if there are no parameters',
      gradual({ parameters: { rollout: '60' } }),
      gradual({ parameters: null }),
      gradual({ parameters: { rollout: '60' } }),
    ],
    [
      'of another name sets its parameters',
      { ...own, parameters: { rollout: '60' } },
      gradual(),
      { ...own, parameters: { rollout: '60' } },
    ],
    [
      'sets the parameters of a strategy without a percentage',
      { ...own, parameters: { rollout: '60' } },
      own,
      { ...own, parameters: { rollout: '60' } },
    ],
  ])('of a definition %s', (_, wanted, current, expected) => {
    expect(keepPercentage(wanted, current)).toStrictEqual(expected);
  });
});
