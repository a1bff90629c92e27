import type { FlagConfiguration, StrategyDefinition } from '@flags/core';
import { reasonFor } from '../../src/openfeature/resolution.js';

const CONSTRAINT = { contextName: 'userId', operator: 'IN', values: ['7'] };
const SHARE = { name: 'flexibleRollout', parameters: { rollout: 50 } };
const EVERYBODY = { name: 'default' };

function flagWith(changes: Partial<FlagConfiguration>): FlagConfiguration {
  const texts = { name: 'checkout', project: 'default', type: 'release', description: null };
  return { ...texts, stale: false, enabled: true, strategies: [EVERYBODY], ...changes };
}

const variants = (...weights: readonly number[]) => weights.map((weight, n) => ({ name: `v${n}`, weight }));

describe('the reason of an answer', () => {
  it('is DISABLED where the flag is off in the environment', () => {
    expect(reasonFor(flagWith({ enabled: false }), { enabled: false })).toBe('DISABLED');
  });

  it('is DEFAULT where it is enabled, and off for this context', () => {
    expect(reasonFor(flagWith({ strategies: [SHARE] }), { enabled: false })).toBe('DEFAULT');
  });

  it.each<[string, string, readonly StrategyDefinition[]]>([
    ['STATIC', 'no strategies', []],
    ['STATIC', 'the strategy default', [EVERYBODY]],
    ['STATIC', 'one for everybody among others', [{ ...EVERYBODY, constraints: [CONSTRAINT] }, EVERYBODY]],
    ['STATIC', 'a rollout to all', [{ name: 'flexibleRollout', parameters: { rollout: '100' } }]],
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
  ])('is %s for a flag that is on by %s', (reason, _, strategies) => {
    expect(reasonFor(flagWith({ strategies }), { enabled: true })).toBe(reason);
  });

  it('is TARGETING_MATCH for a flag with a parent', () => {
    expect(reasonFor(flagWith({ dependencies: [{ feature: 'parent' }] }), { enabled: true })).toBe('TARGETING_MATCH');
  });

  it('is SPLIT for one of several variants', () => {
    const flag = flagWith({ variants: variants(500, 500) });
    expect(reasonFor(flag, { enabled: true, variant: 'v1' })).toBe('SPLIT');
    expect(reasonFor(flag, { enabled: true })).toBe('STATIC');
  });

  it('is that of the flag for the only variant that has weight', () => {
    const answer = { enabled: true, variant: 'v0' };
    expect(reasonFor(flagWith({ variants: variants(1000) }), answer)).toBe('STATIC');
    expect(reasonFor(flagWith({ variants: variants(1000, 0) }), answer)).toBe('STATIC');
  });

  it("takes a strategy's variants for the chosen ones before the flag's", () => {
    const strategies = [{ ...EVERYBODY, variants: variants(1000) }];
    expect(reasonFor(flagWith({ strategies, variants: variants(500, 500) }), { enabled: true, variant: 'v0' })).toBe(
      'STATIC',
    );
  });
});
