import type { FlagConfiguration, StrategyDefinition } from '@flags/core';
import { reasonFor } from '../../src/openfeature/reason.js';

const CONSTRAINT = { contextName: 'userId', operator: 'IN', values: ['7'] };
const SHARE = { name: 'flexibleRollout', parameters: { rollout: 50 } };
const EVERYBODY = { name: 'default' };

function flagWith(changes: Partial<FlagConfiguration>): FlagConfiguration {
  const texts = { name: 'checkout', project: 'default', type: 'release', description: null };
  return { ...texts, stale: false, labels: [], enabled: true, strategies: [EVERYBODY], ...changes };
}

const variants = (...weights: readonly number[]) => weights.map((weight, n) => ({ name: `v${n}`, weight }));

const ON = { name: 'disabled', enabled: false };
const v = (n: number) => ({ name: `v${n}`, enabled: true });

describe('the reason of an answer', () => {
  it('is DISABLED where the flag is off in the environment', () => {
    expect(reasonFor(flagWith({ enabled: false }))).toBe('DISABLED');
  });

  it.each<[string, string, readonly StrategyDefinition[]]>([
    ['STATIC', 'no strategies', []],
    ['STATIC', 'strategies that are all disabled', [{ ...EVERYBODY, disabled: true }]],
    ['STATIC', 'the strategy default', [EVERYBODY]],
    ['STATIC', 'one for everybody among others', [{ ...EVERYBODY, constraints: [CONSTRAINT] }, EVERYBODY]],
    ['STATIC', 'a rollout to all', [{ name: 'flexibleRollout', parameters: { rollout: '100' } }]],
    ['STATIC', 'all evaluations', [{ name: 'gradualRolloutRandom', parameters: { percentage: 100 } }]],
    ['SPLIT', 'a rollout', [SHARE]],
    ['SPLIT', 'rollouts', [SHARE, { name: 'gradualRolloutUserId', parameters: { percentage: 10 } }]],
    ['SPLIT', 'a rollout to all who have a field', [{ ...SHARE, parameters: { rollout: 100, stickiness: 'team' } }]],
    ['SPLIT', 'a rollout beside a disabled strategy', [SHARE, { ...EVERYBODY, disabled: true }]],
    ['TARGETING_MATCH', 'constraints', [{ ...EVERYBODY, constraints: [CONSTRAINT] }]],
    ['TARGETING_MATCH', 'segments', [{ ...EVERYBODY, segments: [1] }]],
    ['TARGETING_MATCH', 'a rollout with constraints', [{ ...SHARE, constraints: [CONSTRAINT] }]],
    ['TARGETING_MATCH', 'a list of users', [{ name: 'userWithId', parameters: { userIds: '7' } }]],
    ['TARGETING_MATCH', 'a strategy of the host', [{ name: 'ours' }]],
    ['TARGETING_MATCH', 'a list or a rollout', [SHARE, { name: 'userWithId', parameters: { userIds: '7' } }]],
  ])('is %s for a flag that is decided by %s', (reason, _, strategies) => {
    expect(reasonFor(flagWith({ strategies }))).toBe(reason);
    expect(reasonFor(flagWith({ strategies }), ON)).toBe(reason);
  });

  it('is TARGETING_MATCH for a flag with a parent', () => {
    expect(reasonFor(flagWith({ dependencies: [{ feature: 'parent' }] }))).toBe('TARGETING_MATCH');
    expect(reasonFor(flagWith({ strategies: [SHARE], dependencies: [{ feature: 'parent' }] }))).toBe('TARGETING_MATCH');
  });

  it('is SPLIT for one of several variants', () => {
    const flag = flagWith({ variants: variants(500, 500) });
    expect(reasonFor(flag, v(1))).toBe('SPLIT');
    expect(reasonFor(flag)).toBe('STATIC');
  });

  it('is that of the flag for the only variant that has weight', () => {
    expect(reasonFor(flagWith({ variants: variants(1000) }), v(0))).toBe('STATIC');
    expect(reasonFor(flagWith({ variants: variants(1000, 0) }), v(0))).toBe('STATIC');
  });

  it("takes a strategy's variants for the chosen ones before the flag's", () => {
    const strategies = [{ ...EVERYBODY, variants: variants(1000) }];
    expect(reasonFor(flagWith({ strategies, variants: variants(500, 500) }), v(0))).toBe('STATIC');
  });

  it('is not STATIC for a variant that only some contexts get', () => {
    const some = { ...EVERYBODY, constraints: [CONSTRAINT], variants: variants(1000) };
    expect(reasonFor(flagWith({ strategies: [some, EVERYBODY] }), ON)).toBe('TARGETING_MATCH');
    expect(reasonFor(flagWith({ strategies: [some, EVERYBODY] }), v(0))).toBe('TARGETING_MATCH');
    expect(reasonFor(flagWith({ strategies: [some, EVERYBODY] }))).toBe('STATIC');
    const share = { ...SHARE, variants: variants(1000) };
    expect(reasonFor(flagWith({ strategies: [share, EVERYBODY] }), ON)).toBe('TARGETING_MATCH');
    const payload = (value: string) => ({ type: 'string' as const, value });
    const paid = (value: string) => [{ name: 'v0', weight: 1000, payload: payload(value) }];
    const alike = [{ ...some, variants: paid('a') }, EVERYBODY];
    expect(reasonFor(flagWith({ strategies: alike, variants: paid('a') }), v(0))).toBe('STATIC');
    expect(reasonFor(flagWith({ strategies: alike, variants: paid('b') }), v(0))).toBe('TARGETING_MATCH');
  });

  it('is not STATIC where an override gives some contexts another variant', () => {
    const overrides = [{ contextName: 'userId', values: ['7'] }];
    const flag = flagWith({
      variants: [
        { name: 'v0', weight: 1000 },
        { name: 'v1', weight: 0, overrides },
      ],
    });
    expect(reasonFor(flag, v(0))).toBe('TARGETING_MATCH');
    expect(reasonFor(flag, v(1))).toBe('TARGETING_MATCH');
  });
});
