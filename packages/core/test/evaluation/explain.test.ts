import fc from 'fast-check';
import { extent } from '../../../../test/extent.js';
import type { StrategyDefinition } from '../../src/evaluation/definitions.types.js';
import { arbitraryContext, arbitraryFlags, arbitrarySegments, FLAG_NAMES } from './arbitrary-documents.js';
import { flag, rollout, snapshotOf, weighted, withStrategy } from './one-flag.js';

const inDev = { contextName: 'environment', operator: 'IN', values: ['dev'] };
const forAda = { name: 'userWithId', parameters: { userIds: 'ada' } };

describe('an explanation', () => {
  it('has the same result as the evaluation', () => {
    fc.assert(
      fc.property(arbitraryFlags, arbitrarySegments, arbitraryContext, (flags, segments, context) => {
        const snapshot = snapshotOf(flags, { segments });
        for (const name of FLAG_NAMES) {
          const { enabled, variant, strategies, dependencies } = snapshot.explain(name, context);
          expect(snapshot.isEnabled(name, context)).toBe(enabled);
          expect(snapshot.getVariant(name, context)).toEqual(variant);
          for (const strategy of strategies.slice(0, -1)) expect(strategy.holds).toBe(false);
          for (const dependency of dependencies.slice(0, -1)) expect(dependency.holds).toBe(true);
        }
      }),
      { numRuns: extent({ short: 150, full: 2_500 }) },
    );
  });

  it.each<[string, StrategyDefinition]>([
    [
      'a constraint that never looks at it',
      { name: 'default', constraints: [{ contextName: 'userId', operator: 'DATE_BEFORE', value: '2100-01-01' }] },
    ],
    ['a rollout to everybody', rollout(100)],
    ['a rollout to nobody', rollout(0)],
  ])('comes to the same where a field that cannot be read is not needed: %s', (_, strategy) => {
    const snapshot = withStrategy(strategy);
    const unreadable = {
      get userId(): string {
        throw new Error('unreadable');
      },
    };
    const { enabled, reason } = snapshot.explain('checkout', unreadable);
    expect(enabled).toBe(snapshot.isEnabled('checkout', unreadable));
    expect(reason).not.toBe('unreadable_context');
  });

  it('lists the decisions in their order, up to the last needed', () => {
    const strategies = [
      { ...forAda, constraints: [inDev, { contextName: 'appName', operator: 'IN', values: ['shop'] }] },
      { ...forAda, segments: [1, 2] },
      { name: 'default', disabled: true },
      forAda,
      { name: 'default' },
    ];
    const snapshot = snapshotOf(
      [flag({ name: 'parent' }), flag({ strategies, dependencies: [{ feature: 'parent' }] })],
      {
        segments: [{ id: 1, constraints: [{ ...inDev, values: ['prod'] }] }],
      },
    );
    const userId = 'ada';
    const environment = 'prod';
    expect(snapshot.explain('checkout', { userId, environment })).toEqual({
      flag: 'checkout',
      enabled: true,
      reason: 'strategy',
      variant: { name: 'disabled', enabled: false, feature_enabled: true },
      dependencies: [{ dependency: { feature: 'parent', enabled: true, variants: [] }, holds: true }],
      strategies: [
        {
          name: 'userWithId',
          holds: false,
          disabled: false,
          constraints: [{ constraint: inDev, value: environment, holds: false }],
          segments: [],
        },
        {
          name: 'userWithId',
          holds: false,
          disabled: false,
          constraints: [],
          segments: [
            {
              id: 1,
              found: true,
              holds: true,
              constraints: [{ constraint: { ...inDev, values: ['prod'] }, value: environment, holds: true }],
            },
            { id: 2, found: false, holds: false, constraints: [] },
          ],
        },
        { name: 'default', holds: false, disabled: true, constraints: [], segments: [] },
        { name: 'userWithId', holds: true, disabled: false, constraints: [], segments: [], test: true },
      ],
    });
  });

  it.each([
    ['unknown_flag', []],
    ['broken_flag', [flag({ strategies: 7 as never })]],
    ['dependency', [flag({ dependencies: [{ feature: 'missing' }] })]],
    ['disabled', [flag({ enabled: false })]],
    ['no_strategies', [flag({ strategies: [] })]],
    ['strategy', [flag()]],
    ['no_strategy_holds', [flag({ strategies: [forAda] })]],
  ])('says what decided: %s', (reason, flags) => {
    expect(snapshotOf(flags).explain('checkout')).toMatchObject({ reason, flag: 'checkout' });
  });

  it('has no decisions where none was needed', () => {
    const variant = { name: 'disabled', enabled: false, feature_enabled: false };
    const undecided = { flag: 'checkout', enabled: false, variant, dependencies: [], strategies: [] };
    expect(snapshotOf([]).explain('checkout')).toEqual({ ...undecided, reason: 'unknown_flag' });
    expect(snapshotOf([flag({ enabled: false })]).explain('checkout')).toEqual({ ...undecided, reason: 'disabled' });
    const on = snapshotOf([flag({ strategies: [] })]).explain('checkout');
    expect(on).toMatchObject({ enabled: true, dependencies: [], strategies: [] });
  });

  it('shows the hash and the percentage of a rollout', () => {
    const strategy = rollout(50);
    const explained = (context: object) => withStrategy(strategy, { random: () => 0.7 }).explain('checkout', context);
    expect(explained({ userId: 'ada' }).strategies[0]?.rollout).toEqual({
      holds: expect.any(Boolean),
      groupId: 'checkout',
      id: 'ada',
      bucket: expect.any(Number),
      random: false,
      rollout: 50,
    });
    expect(explained({}).strategies[0]?.rollout).toMatchObject({ bucket: 71, random: true, holds: false });
    const { bucket = 0 } = explained({ userId: 'ada' }).strategies[0]?.rollout ?? {};
    expect(withStrategy(rollout(bucket)).isEnabled('checkout', { userId: 'ada' })).toBe(true);
    expect(withStrategy(rollout(bucket - 1)).isEnabled('checkout', { userId: 'ada' })).toBe(false);
  });

  it('shows no bucket where a missing id means off', () => {
    const explained = withStrategy(rollout(100, { stickiness: 'team' })).explain('checkout', {});
    expect(explained.strategies[0]?.rollout).toEqual({
      holds: false,
      groupId: 'checkout',
      random: false,
      rollout: 100,
    });
  });

  it('shows how the variant was chosen', () => {
    const overridden = { contextName: 'userId', values: ['bob'] };
    const variants = [...weighted(1, 2), { name: 'special', weight: 0, overrides: [overridden] }];
    const snapshot = snapshotOf([flag({ variants })]);
    expect(snapshot.explain('checkout', { userId: 'ada' }).variantChoice).toMatchObject({
      overridden: false,
      groupId: 'checkout',
      stickiness: 'default',
      id: 'ada',
      random: false,
      totalWeight: 3,
    });
    const special = { name: 'special', enabled: true, feature_enabled: true };
    expect(snapshot.explain('checkout', { userId: 'bob' }).variantChoice).toEqual({
      variant: special,
      overridden: true,
    });
  });

  it('draws once where chance decides', () => {
    let draws = 0;
    const random = () => {
      draws++;
      return 0.3;
    };
    const snapshot = withStrategy(rollout(50, { stickiness: 'random' }), { random });
    expect(snapshot.explain('checkout').enabled).toBe(true);
    expect(draws).toBe(1);
  });
});
