import { flag, NOON, rollout, snapshotOf, weighted, withStrategy } from './one-flag.js';

const OFF = { name: 'disabled', enabled: false, feature_enabled: false };
const on = { name: 'default' };
const off = { name: 'userWithId', parameters: { userIds: 'nobody' } };

describe('a fallback', () => {
  it('serves an unknown flag', () => {
    const snapshot = snapshotOf([]);
    expect(snapshot.isEnabled('unknown')).toBe(false);
    expect(snapshot.isEnabled('unknown', {}, true)).toBe(true);
    expect(snapshot.getVariant('unknown')).toEqual(OFF);
    expect(snapshot.getVariant('unknown', {}, { name: 'blue', enabled: true })).toEqual({
      name: 'blue',
      enabled: true,
      feature_enabled: false,
    });
  });

  it('never serves a flag that evaluated to off, or has no variant', () => {
    const snapshot = snapshotOf([flag({ enabled: false }), flag({ name: 'plain' })]);
    expect(snapshot.isEnabled('checkout', {}, true)).toBe(false);
    expect(snapshot.getVariant('checkout', {}, { name: 'blue', enabled: true })).toEqual(OFF);
    expect(snapshot.getVariant('plain', {}, { name: 'blue', enabled: true }).name).toBe('disabled');
  });
});

describe('strategies', () => {
  it('leave an enabled flag on while there are none, and a disabled one off', () => {
    const snapshot = snapshotOf([flag({ strategies: [] }), flag({ name: 'off', enabled: false, strategies: [] })]);
    expect(snapshot.isEnabled('checkout')).toBe(true);
    expect(snapshot.isEnabled('off')).toBe(false);
  });

  it('are asked in order: the first that holds brings its variant', () => {
    const strategies = [
      { ...off, variants: weighted(1) },
      { ...on, variants: [{ name: 'second', weight: 1 }] },
      { ...on, variants: [{ name: 'third', weight: 1 }] },
    ];
    expect(snapshotOf([flag({ strategies })]).getVariant('checkout', { userId: 'ada' }).name).toBe('second');
  });

  it('hold only with all constraints, all segments and their own test', () => {
    const constraint = { contextName: 'environment', operator: 'IN', values: ['dev'] };
    const segments = [{ id: 1, constraints: [{ contextName: 'appName', operator: 'IN', values: ['shop'] }] }];
    const strategy = { name: 'userWithId', parameters: { userIds: 'ada' }, constraints: [constraint], segments: [1] };
    const snapshot = withStrategy(strategy, { segments });
    const context = { environment: 'dev', appName: 'shop', userId: 'ada' };
    expect(snapshot.isEnabled('checkout', context)).toBe(true);
    expect(snapshot.isEnabled('checkout', { ...context, environment: 'prod' })).toBe(false);
    expect(snapshot.isEnabled('checkout', { ...context, appName: 'admin' })).toBe(false);
    expect(snapshot.isEnabled('checkout', { ...context, userId: 'bob' })).toBe(false);
  });

  it('do not hold when they are unknown, disabled, or name a missing segment', () => {
    expect(withStrategy({ name: 'unknown' }).isEnabled('checkout')).toBe(false);
    expect(withStrategy({ ...on, disabled: true }).isEnabled('checkout')).toBe(false);
    expect(withStrategy({ ...on, segments: [7] }).isEnabled('checkout')).toBe(false);
  });

  it('take host names from the host alone', () => {
    const strategy = { name: 'applicationHostname', parameters: { hostNames: 'web-1, Web-2' } };
    expect(withStrategy(strategy, { hostname: 'WEB-2' }).isEnabled('checkout')).toBe(true);
    expect(withStrategy(strategy, { hostname: 'web-3' }).isEnabled('checkout')).toBe(false);
    expect(withStrategy(strategy).isEnabled('checkout')).toBe(false);
  });
});

describe('a rollout', () => {
  it('is off for whom its stickiness has no id, whatever the percentage', () => {
    for (const context of [{}, { properties: { team: '' } }, { properties: { team: null } }]) {
      expect(withStrategy(rollout(100, { stickiness: 'team' })).isEnabled('checkout', context)).toBe(false);
    }
  });

  it('goes by the user, then the session, then chance', () => {
    const snapshot = withStrategy(rollout(50), { random: () => 0.49 });
    const bySession = snapshot.isEnabled('checkout', { sessionId: 'ada' });
    expect(snapshot.isEnabled('checkout', { userId: 'ada', sessionId: 'other' })).toBe(bySession);
    expect(snapshot.isEnabled('checkout', { userId: '', sessionId: 'ada' })).toBe(bySession);
    expect(snapshot.isEnabled('checkout', {})).toBe(true);
    expect(withStrategy(rollout(50), { random: () => 0.5 }).isEnabled('checkout', {})).toBe(false);
  });

  it('counts a number as its string, zero too', () => {
    for (let id = 0; id < 200; id++) {
      const snapshot = withStrategy(rollout(50), { random: () => 0.99 });
      expect(snapshot.isEnabled('checkout', { userId: id })).toBe(snapshot.isEnabled('checkout', { userId: `${id}` }));
    }
  });
});

describe('variants', () => {
  it('of the winning strategy beat those of the flag, which serve where it has none', () => {
    const variants = [{ name: 'of-flag', weight: 1 }];
    const own = [{ name: 'of-strategy', weight: 1 }];
    expect(snapshotOf([flag({ variants, strategies: [{ ...on, variants: own }] })]).getVariant('checkout').name).toBe(
      'of-strategy',
    );
    expect(snapshotOf([flag({ variants, strategies: [{ ...on, variants: [] }] })]).getVariant('checkout').name).toBe(
      'of-flag',
    );
  });

  it('with weight 0 are never drawn, but can be given by an override', () => {
    const overrides = [{ contextName: 'userId', values: ['ada'] }];
    const variants = [{ name: 'none', weight: 0, overrides }, ...weighted(1), { name: 'last', weight: 0 }];
    const snapshot = snapshotOf([flag({ variants })]);
    for (let id = 0; id < 500; id++)
      expect(snapshot.getVariant('checkout', { userId: `${id}` }).name).toBe('variant-0');
    expect(snapshot.getVariant('checkout', { userId: 'ada' }).name).toBe('none');
  });

  it('are none when all weights are 0', () => {
    const snapshot = snapshotOf([flag({ variants: weighted(0, 0) })]);
    expect(snapshot.getVariant('checkout', { userId: 'ada' })).toEqual({ ...OFF, feature_enabled: true });
  });

  it('are answered as one frozen object each', () => {
    const variants = [{ name: 'blue', weight: 1, payload: { type: 'string' as const, value: 'x' } }];
    const snapshot = snapshotOf([flag({ variants })]);
    const variant = snapshot.getVariant('checkout');
    expect(snapshot.getVariant('checkout')).toBe(variant);
    expect(Object.isFrozen(variant) && Object.isFrozen(variant.payload)).toBe(true);
  });
});

describe('names', () => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '', 'ünïcødé'];

  it('of flags can be anything', () => {
    const snapshot = snapshotOf(names.map((name) => flag({ name })));
    for (const name of names) expect(snapshot.isEnabled(name)).toBe(true);
    for (const name of names) expect(snapshotOf([]).isEnabled(name)).toBe(false);
    expect([...snapshot.names()].sort()).toEqual([...names].sort());
  });

  it('of fields mean own properties alone', () => {
    for (const contextName of names) {
      const constraint = { contextName, operator: 'STR_CONTAINS', values: [''], inverted: true };
      const snapshot = withStrategy({ name: 'default', constraints: [constraint] });
      const own = JSON.parse(`{${JSON.stringify(contextName)}:"x"}`);
      expect(snapshot.isEnabled('checkout', { properties: {} })).toBe(true);
      expect(snapshot.explain('checkout', { properties: {} }).strategies[0]?.constraints[0]).not.toHaveProperty(
        'value',
      );
      expect(snapshot.explain('checkout', { properties: own }).strategies[0]?.constraints[0]).toMatchObject({
        value: 'x',
      });
    }
  });
});

describe('the context', () => {
  it('has its members before its properties, and properties where a member is missing', () => {
    const constraint = { contextName: 'environment', operator: 'IN', values: ['dev'] };
    const snapshot = withStrategy({ name: 'default', constraints: [constraint] });
    expect(snapshot.isEnabled('checkout', { environment: 'dev', properties: { environment: 'prod' } })).toBe(true);
    expect(snapshot.isEnabled('checkout', { properties: { environment: 'dev' } })).toBe(true);
  });

  it('is measured by its own time, else by that of the host', () => {
    const after = new Date(NOON - 1).toISOString();
    const constraint = { contextName: 'currentTime', operator: 'DATE_AFTER', value: after };
    const snapshot = withStrategy({ name: 'default', constraints: [constraint] });
    expect(snapshot.isEnabled('checkout', {})).toBe(true);
    expect(snapshot.isEnabled('checkout', { currentTime: after })).toBe(false);
    expect(snapshot.isEnabled('checkout', { currentTime: new Date(NOON) })).toBe(true);
  });
});
