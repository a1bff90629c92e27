import { takeDue } from '../../src/rollouts/rollout.decide.js';
import type { RolloutState } from '../../src/rollouts/rollout.js';
import { DAY } from '../settable-clock.js';

const SINCE = '2026-01-01T00:00:00.000Z';
const DUE = Date.parse(SINCE) + DAY;

/** A rollout whose second step is due at `DUE`. */
function rolloutState(changes: Partial<RolloutState> = {}): RolloutState {
  return {
    v: 1,
    id: 'r-1',
    ref: { project: 'shop', flag: 'checkout', environment: 'production', strategy: 's-1' },
    author: { name: 'Ada' },
    startedFrom: 1,
    createdAt: SINCE,
    reason: null,
    steps: [
      { rollout: 5, hold: DAY },
      { rollout: 100, hold: null },
    ],
    guarded: false,
    approval: null,
    state: 'running',
    step: 0,
    since: SINCE,
    flagRevision: 1,
    failure: null,
    ended: null,
    endedAt: null,
    original: { value: '1' },
    hash: '',
    ...changes,
  };
}

// The runner lists rollouts first. Another process may pause, step or end one of them before the runner commits.
describe('a step that is due', () => {
  it('is taken at its time', () => {
    const taken = takeDue(rolloutState(), 0, DUE);
    expect(taken?.parameter).toEqual({ percentage: 100 });
    expect(taken?.events({ id: 'c-1', at: SINCE, flagRevision: 2 })).toMatchObject([{ data: { step: 1 } }]);
  });

  it.each<[string, Partial<RolloutState>]>([
    ['is paused', { state: 'paused' }],
    ['waits for a person', { state: 'waiting', steps: [{ rollout: 5, hold: null }] }],
    ['has taken the step', { step: 1, steps: [5, 50, 100].map((rollout) => ({ rollout, hold: DAY })) }],
    ['has a later time', { since: '2026-01-01T00:00:00.001Z' }],
    ['has ended', { state: 'done', endedAt: SINCE }],
  ])('is not taken if the rollout %s meanwhile', (_, changes) => {
    expect(takeDue(rolloutState(changes), 0, DUE)).toBeUndefined();
  });
});
