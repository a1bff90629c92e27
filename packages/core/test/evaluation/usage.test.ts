import { UsageCounters } from '../../src/evaluation/usage.js';
import { flag, rollout, snapshotOf } from './one-flag.js';

const variants = [{ name: 'blue', weight: 1 }];
const varied = flag({ name: 'varied', variants });

describe('usage', () => {
  it('is counted per answer and per variant, and drained once', () => {
    const counters = new UsageCounters();
    const snapshot = snapshotOf([flag({ enabled: false }), varied, flag({ name: 'unused' })], { counters });
    snapshot.isEnabled('checkout');
    snapshot.getVariant('checkout');
    snapshot.isEnabled('varied');
    snapshot.getVariant('varied');
    snapshot.getVariant('varied');
    expect(counters.drain()).toEqual([
      { flag: 'checkout', yes: 0, no: 2, variants: [{ variant: 'disabled', count: 1 }] },
      { flag: 'varied', yes: 3, no: 0, variants: [{ variant: 'blue', count: 2 }] },
    ]);
    expect(counters.drain()).toEqual([]);
  });

  it('is not counted for explanations, plain evaluations, parents and unknown flags', () => {
    const counters = new UsageCounters();
    const child = flag({ dependencies: [{ feature: 'varied', variants: ['blue'] }] });
    const snapshot = snapshotOf([varied, child], { counters });
    snapshot.explain('varied');
    snapshot.evaluate('varied');
    snapshot.isEnabled('unknown');
    snapshot.getVariant('unknown');
    snapshot.isEnabled('checkout');
    expect(counters.drain()).toEqual([{ flag: 'checkout', yes: 1, no: 0, variants: [] }]);
  });

  it('is counted again after a flag was evicted, even if its parts are the same objects', () => {
    const counters = new UsageCounters();
    const before = snapshotOf([varied], { counters });
    counters.forget('varied');
    before.with({ flags: [{ ...varied }] }).getVariant('varied');
    expect(counters.drain()).toEqual([{ flag: 'varied', yes: 1, no: 0, variants: [{ variant: 'blue', count: 1 }] }]);
  });

  it('survives changes: old and new snapshots count into one', () => {
    const counters = new UsageCounters();
    const before = snapshotOf([varied], { counters });
    const after = before.with({ flags: [{ ...varied, enabled: false }] });
    const anew = snapshotOf([varied], { counters });
    before.getVariant('varied');
    after.isEnabled('varied');
    anew.getVariant('varied');
    expect(counters.drain()).toEqual([{ flag: 'varied', yes: 2, no: 1, variants: [{ variant: 'blue', count: 2 }] }]);
  });

  it('of a removed flag comes with the next drain, and counts again when the flag is back', () => {
    const counters = new UsageCounters();
    const before = snapshotOf([varied], { counters });
    before.isEnabled('varied');
    const without = before.with({ removedFlags: ['varied'] });
    expect(counters.drain()).toMatchObject([{ flag: 'varied', yes: 1 }]);
    const back = without.with({ flags: [varied] });
    back.isEnabled('varied');
    expect(counters.drain()).toMatchObject([{ flag: 'varied', yes: 1 }]);
    snapshotOf([], { counters });
    back.isEnabled('varied');
    expect(counters.drain()).toMatchObject([{ flag: 'varied', yes: 1 }]);
    back.isEnabled('varied');
    expect(counters.drain()).toEqual([]);
  });
});

describe('the counter of a flag', () => {
  const countedTwice = (counters: UsageCounters, evaluate: () => unknown) => {
    const drained = [0, 0].map(() => {
      evaluate();
      return counters.drain().length;
    });
    return drained[0] === 1 && drained[1] === 1;
  };

  it('continues from drain to drain, also after a recompilation or restore of the flag', () => {
    const counters = new UsageCounters();
    const first = snapshotOf([varied], { counters });
    expect(countedTwice(counters, () => first.isEnabled('varied'))).toBe(true);
    const anew = snapshotOf([varied], { counters });
    expect(countedTwice(counters, () => anew.isEnabled('varied'))).toBe(true);
    const back = anew.with({ removedFlags: ['varied'] }).with({ flags: [varied] });
    expect(countedTwice(counters, () => back.isEnabled('varied'))).toBe(true);
  });

  it('is forgotten with the drain after the flag has gone, whatever an older snapshot counts', () => {
    const counters = new UsageCounters();
    const before = snapshotOf([varied, flag()], { counters });
    before.with({ removedFlags: ['varied'] });
    expect(countedTwice(counters, () => before.isEnabled('varied'))).toBe(false);
    snapshotOf([], { counters });
    expect(countedTwice(counters, () => before.isEnabled('checkout'))).toBe(false);
  });

  it('is forgotten at once on demand', () => {
    const counters = new UsageCounters();
    snapshotOf([varied], { counters }).isEnabled('varied');
    counters.forget('varied');
    expect(counters.drain()).toEqual([]);
  });
});

describe('impressions', () => {
  const told = (impressionData: boolean) => {
    const impressions: object[] = [];
    const strategies = [rollout(100)];
    const snapshot = snapshotOf([flag({ impressionData, strategies, variants })], {
      onImpression: (impression) => impressions.push(impression),
    });
    return { impressions, snapshot };
  };

  it('are told of flags that have them', () => {
    const { impressions, snapshot } = told(true);
    const context = { userId: 'ada' };
    snapshot.isEnabled('checkout', context);
    const variant = snapshot.getVariant('checkout', context);
    snapshot.evaluate('checkout', context);
    snapshot.explain('checkout', context);
    expect(impressions).toEqual([
      { flag: 'checkout', context, enabled: true },
      { flag: 'checkout', context, enabled: true, variant },
    ]);
  });

  it('do not receive events of other projects', () => {
    const { impressions, snapshot } = told(false);
    const unsaid = snapshot.with({ flags: [flag({ name: 'unsaid', variants })] });
    for (const name of ['checkout', 'unsaid']) {
      unsaid.isEnabled(name);
      unsaid.getVariant(name);
    }
    expect(impressions).toEqual([]);
  });
});
