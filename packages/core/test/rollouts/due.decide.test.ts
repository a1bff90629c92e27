import { pauseRefused, rollBackByGuard, takeDueStep } from '../../src/features/flags/rollouts.decide.js';
import type { StrategyRollout } from '../../src/features/flags/strategy-rollout.types.js';
import { environmentState, flagState } from '../flags/flag-states.js';
import { DAY } from '../settable-clock.js';

const SINCE = '2026-01-01T00:00:00.000Z';
const DUE = new Date(Date.parse(SINCE) + DAY).toISOString();
const SEEN = { step: 0, since: SINCE };
const LOCATION = { environment: 'production', strategy: 's-1' };

/** A rollout whose second step is due at `DUE`. */
function rolloutState(changes: Partial<StrategyRollout> = {}): StrategyRollout {
  return {
    steps: [
      { percentage: 5, hold: DAY },
      { percentage: 100, hold: null },
    ],
    step: 0,
    since: SINCE,
    state: 'running',
    guarded: false,
    author: { name: 'Ada' },
    startedFrom: { value: '1' },
    failure: null,
    ...changes,
  };
}

function rollingFlag(rollout: StrategyRollout | undefined) {
  const strategy = { id: 's-1', name: 'flexibleRollout', parameters: { rollout: '5' }, constraints: [] };
  const rollouts = rollout && { rollouts: { 's-1': rollout } };
  const environment = { ...environmentState('production', []), enabled: true, strategies: [strategy], ...rollouts };
  return flagState({ environments: [environment as never] });
}

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
    expect(pauseRefused(flag, LOCATION, { seen: SEEN, failure })).toEqual([]);
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
    ['has ended', undefined, []],
  ])('of a rollout that %s meanwhile', (_, changes, expected) => {
    const flag = rollingFlag(changes && rolloutState(changes));
    expect(rollBackByGuard(flag, LOCATION, rolloutState())).toMatchObject(expected);
  });
});
