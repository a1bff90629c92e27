import type { Snapshot } from '../../src/evaluation/snapshot.js';
import { flag, rollout, snapshotOf, weighted, withStrategy } from './one-flag.js';

const USERS = 100_000;
/** Chance leaves these bounds once in 15,000 times, and the users are always the same. */
const SIGMAS = 4;

const users = Array.from({ length: USERS }, (_, at) => ({ userId: `user-${at}`, sessionId: `session-${at}` }));

function expectShare(count: number, share: number): void {
  const deviation = Math.sqrt(USERS * share * (1 - share));
  expect(Math.abs(count - USERS * share)).toBeLessThanOrEqual(SIGMAS * deviation);
}

const countOn = (snapshot: Snapshot) => users.filter((user) => snapshot.isEnabled('checkout', user)).length;

/** 0 up to 1, the same numbers in every run. */
function seededRandom(): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

describe('of 100,000 users', () => {
  it.each([0, 1, 10, 33, 50, 90, 99, 100])('%d %% are in a rollout of as many', (percentage) => {
    expectShare(countOn(withStrategy(rollout(percentage))), percentage / 100);
  });

  it('a fraction of a percent counts for nothing', () => {
    expect(countOn(withStrategy(rollout(33.9)))).toBe(countOn(withStrategy(rollout(33))));
    expect(countOn(withStrategy(rollout(0.5)))).toBe(0);
  });

  it.each(['gradualRolloutUserId', 'gradualRolloutSessionId', 'gradualRolloutRandom'])(
    '25 %% are in with %s',
    (name) => {
      const strategy = { name, parameters: { percentage: 25, groupId: 'checkout' } };
      expectShare(countOn(withStrategy(strategy, { random: seededRandom() })), 0.25);
    },
  );

  it.each(['random', 'default'])('half are in at random with stickiness %s and nobody to hash', (stickiness) => {
    const snapshot = withStrategy(rollout(50, { stickiness }), { random: seededRandom() });
    expectShare(users.filter(() => snapshot.isEnabled('checkout', {})).length, 0.5);
  });

  it.each([[[1, 1]], [[334, 333, 333]], [[1, 9, 90]], [[1, 999]], [[100, 0, 100]]])(
    'variants get their shares: %j',
    (weights) => {
      const snapshot = snapshotOf([flag({ variants: weighted(...weights) })]);
      const counts = new Map<string, number>();
      for (const user of users) {
        const { name } = snapshot.getVariant('checkout', user);
        counts.set(name, (counts.get(name) ?? 0) + 1);
      }
      const total = weights.reduce((sum, weight) => sum + weight);
      for (const [at, weight] of weights.entries()) expectShare(counts.get(`variant-${at}`) ?? 0, weight / total);
    },
  );

  it('each always gets the same, whatever was asked before, and keeps it as a rollout grows', () => {
    const variants = weighted(1, 1, 1);
    const few = snapshotOf([flag({ variants, strategies: [rollout(20)] })]);
    const more = snapshotOf([flag({ variants, strategies: [rollout(40)] })]);
    const first = users.map((user) => few.getVariant('checkout', user).name);
    const again = users.toReversed().map((user) => few.getVariant('checkout', { ...user }).name);
    expect(again.reverse()).toEqual(first);
    const lost = users.filter((user) => few.isEnabled('checkout', user) && !more.isEnabled('checkout', user));
    expect(lost).toEqual([]);
  });

  it('groups are independent of each other', () => {
    const one = withStrategy(rollout(50, { groupId: 'one' }));
    const other = withStrategy(rollout(50, { groupId: 'other' }));
    const both = users.filter((user) => one.isEnabled('checkout', user) && other.isEnabled('checkout', user)).length;
    expectShare(both, 0.25);
  });

  it('the variant says nothing about the place in the rollout', () => {
    const snapshot = snapshotOf([flag({ variants: weighted(1, 1), strategies: [rollout(50)] })]);
    const first = users.filter((user) => snapshot.getVariant('checkout', user).name === 'variant-0').length;
    expectShare(first, 0.25);
  });
});
