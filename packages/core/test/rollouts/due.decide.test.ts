import { pauseAfterRefusal, rollBackByGuard, takeDueStep } from '../../src/features/flags/rollouts.decide.js';
import type { StrategyRollout } from '../../src/features/flags/strategy-rollout.types.js';
import { DAY } from '../settable-clock.js';
import { DUE, LOCATION, rollingFlag, rolloutState, SINCE } from './rollout-states.js';

const SEEN = { step: 0, since: SINCE };

// The runner looks at its memory first. Another process may move or end the rollout before the runner commits.
describe('a step that is due', () => {
  it('is taken at its time', () => {
    const events = takeDueStep(rollingFlag(rolloutState()), LOCATION, { seen: SEEN, at: DUE });
    expect(events).toMatchObject([
      { type: 'rollout-stepped', data: { rollout: { step: 1, state: 'waiting', since: DUE } } },
      { type: 'strategy-updated', data: { parameters: { rollout: '100' } }, shrinks: true },
    ]);
  });

  const MEANWHILE: readonly (readonly [string, Partial<StrategyRollout> | undefined])[] = [
    ['is paused', { state: 'paused' }],
    ['waits for a person', { state: 'waiting', steps: [{ percentage: 5, hold: null }] }],
    ['has taken the step', { step: 1, steps: [5, 50, 100].map((percentage) => ({ percentage, hold: DAY })) }],
    ['was started again', { since: '2026-01-01T00:00:00.001Z' }],
    ['has ended', undefined],
  ];

  it.each(MEANWHILE)('is not taken if the rollout %s meanwhile', (_, changes) => {
    const flag = rollingFlag(changes && rolloutState(changes));
    expect(takeDueStep(flag, LOCATION, { seen: SEEN, at: DUE })).toEqual([]);
  });

  it.each(MEANWHILE)('that was refused does not pause a rollout that %s meanwhile', (_, changes) => {
    const flag = rollingFlag(changes && rolloutState(changes));
    const failure = { code: 'forbidden', message: 'No.', details: [] } as const;
    expect(pauseAfterRefusal(flag, LOCATION, { seen: SEEN, failure })).toEqual([]);
  });

  it('is not taken before its time', () => {
    const at = new Date(Date.parse(DUE) - 1).toISOString();
    expect(takeDueStep(rollingFlag(rolloutState()), LOCATION, { seen: SEEN, at })).toEqual([]);
  });
});

describe('a rollback by the guard', () => {
  const REASON = [{ type: 'rollout-ended', data: { reason: 'guard' } }, { type: 'strategy-updated' }];

  it.each<[string, Partial<StrategyRollout> | undefined, readonly object[]]>([
    ['is at a later step', { step: 1 }, REASON],
    ['waits', { state: 'waiting' }, REASON],
    ['is paused', { state: 'paused' }, []],
    ['was started again', { since: '2026-01-01T00:00:00.001Z' }, []],
    ['has other steps', { steps: [{ percentage: 7, hold: DAY }] }, []],
    ['has a guard', { guarded: true }, []],
    ['has another author', { author: { name: 'Grace' } }, []],
    ['has started from another percentage', { startedFrom: { value: '2' } }, []],
    ['has ended', undefined, []],
  ])('of a rollout that %s meanwhile', (_, changes, expected) => {
    const flag = rollingFlag(changes && rolloutState(changes));
    expect(rollBackByGuard(flag, LOCATION, rolloutState())).toMatchObject(expected);
  });

  it('does not count for a rollout at an earlier step, which was started again at the same time', () => {
    expect(rollBackByGuard(rollingFlag(rolloutState()), LOCATION, rolloutState({ step: 1 }))).toEqual([]);
  });
});
