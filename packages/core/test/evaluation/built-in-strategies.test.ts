import type { StrategyDefinition } from '../../src/evaluation/definitions.types.js';
import type { EvaluationProblem } from '../../src/evaluation/evaluated.types.js';
import type { SnapshotOptions } from '../../src/evaluation/snapshot.types.js';
import { flag, snapshotOf, withStrategy } from './one-flag.js';

/** Whether the strategy decides without failing: one that always holds comes after it, and nothing is reported. */
function isSound(strategy: StrategyDefinition, context: object, options: Partial<SnapshotOptions> = {}): boolean {
  const problems: EvaluationProblem[] = [];
  const strategies = [strategy, { name: 'default' }];
  const onProblem = (problem: EvaluationProblem) => problems.push(problem);
  const snapshot = snapshotOf([flag({ strategies })], { ...options, onProblem });
  return snapshot.isEnabled('checkout', context) && problems.length === 0;
}

describe('remoteAddress', () => {
  const strategy = {
    name: 'remoteAddress',
    parameters: { IPs: 'localhost, 10.0.0.0/8, 192.0.2.7, 2001:db8::/32, ::1' },
  };
  const isOn = (remoteAddress: string) => withStrategy(strategy).isEnabled('checkout', { remoteAddress });

  it.each(['localhost', '10.1.2.3', '192.0.2.7', '::1', '2001:db8::/32'])('holds for %s', (address) => {
    expect(isOn(address)).toBe(true);
  });

  it.each(['remotehost', '11.0.0.1', '192.0.2.8', '2001:db8::1', '::2', ''])('does not hold for %j', (address) => {
    expect(isOn(address)).toBe(false);
  });

  it('does not hold without an address, and lets the next strategy decide', () => {
    expect(withStrategy(strategy).isEnabled('checkout', {})).toBe(false);
    expect(isSound(strategy, {})).toBe(true);
  });
});

describe('applicationHostname', () => {
  const strategy = { name: 'applicationHostname', parameters: { hostNames: 'Web-1, web-2' } };

  it('holds on the hosts that are named, whatever the case', () => {
    const isOn = (hostname: string) => withStrategy(strategy, { hostname }).isEnabled('checkout');
    expect(['web-1', 'WEB-2', 'web-3', ''].map(isOn)).toEqual([true, true, false, false]);
  });

  it('does not hold where the host is not known, and lets the next strategy decide', () => {
    expect(withStrategy(strategy).isEnabled('checkout')).toBe(false);
    expect(isSound(strategy, {})).toBe(true);
  });
});

describe('a rollout', () => {
  const explained = (strategy: StrategyDefinition, context: object) => {
    return withStrategy(strategy, { random: () => 0.25 }).explain('checkout', context).strategies[0]?.rollout;
  };

  it('draws at random, whatever a context calls random', () => {
    const strategy = { name: 'flexibleRollout', parameters: { rollout: 50, stickiness: 'random', groupId: 'g' } };
    const rollout = explained(strategy, { userId: '7', properties: { random: '7' } });
    expect(rollout).toEqual({ holds: true, groupId: 'g', bucket: 26, random: true, rollout: 50 });
  });

  it('has an empty group where none is named', () => {
    for (const [name, parameters] of [
      ['flexibleRollout', { rollout: 50 }],
      ['gradualRolloutUserId', { percentage: 50 }],
      ['gradualRolloutRandom', { percentage: 50, groupId: 'not looked at' }],
    ] as const) {
      expect(explained({ name, parameters: { ...parameters } }, { userId: '7' })?.groupId).toBe('');
    }
  });
});
