import { splitList } from '../../src/evaluation/compile-strategy.js';
import { UsageCounters } from '../../src/evaluation/usage-counters.js';
import { type EvaluationContext, type Flags, memoryStorage, openFlags } from '../../src/index.js';
import { flag, rollout, snapshotOf, weighted, withConstraint, withStrategy } from './one-flag.js';

const MEMBERS = ['userId', 'sessionId', 'remoteAddress', 'environment', 'appName'] as const;

describe('a constraint', () => {
  const isAda = (contextName: string, context: EvaluationContext) =>
    withConstraint({ contextName, operator: 'IN', values: ['ada'] }).isEnabled('checkout', context);

  it.each(MEMBERS)('reads the member %s, or the property of that name where there is none', (name) => {
    expect(isAda(name, { [name]: 'ada' })).toBe(true);
    expect(isAda(name, { properties: { [name]: 'ada' } })).toBe(true);
    expect(isAda(name, { [name]: 'bob', properties: { [name]: 'ada' } })).toBe(false);
    expect(isAda(name, { [name]: '', properties: { [name]: 'ada' } })).toBe(false);
    for (const other of MEMBERS) expect(isAda(name, { [other]: 'ada' })).toBe(other === name);
  });

  it('reads currentTime as a string', () => {
    const values = ['2024'];
    const snapshot = withConstraint({ contextName: 'currentTime', operator: 'STR_CONTAINS', values });
    expect(snapshot.isEnabled('checkout', { currentTime: '2024-05-06' })).toBe(true);
    expect(snapshot.isEnabled('checkout', { properties: { currentTime: '2024-05-06' } })).toBe(true);
    expect(snapshot.isEnabled('checkout', {})).toBe(false);
  });

  it('reads any other name as a property, never as a member', () => {
    expect(isAda('team', { properties: { team: 'ada' } })).toBe(true);
    expect(isAda('team', { team: 'ada' } as EvaluationContext)).toBe(false);
    expect(isAda('team', { properties: null as never })).toBe(false);
    expect(isAda('team', {})).toBe(false);
  });
});

describe('a number', () => {
  it.each(MEMBERS)('is converted to a string as %s', (name) => {
    const snapshot = withConstraint({ contextName: name, operator: 'IN', values: ['7'] });
    expect(snapshot.isEnabled('checkout', { [name]: 7 })).toBe(true);
    expect(snapshot.isEnabled('checkout', { [name]: 8 })).toBe(false);
  });
});

describe('a context without properties', () => {
  it.each([undefined, null])('has no value for any name: %s', (properties) => {
    const snapshot = withConstraint({ contextName: 'team', operator: 'NOT_IN', values: ['a'] });
    expect(snapshot.isEnabled('checkout', { properties: properties as never })).toBe(true);
  });
});

describe('the time of a segment', () => {
  it('is the time of the snapshot', () => {
    const after = (value: string) => [
      { id: 1, constraints: [{ contextName: 'currentTime', operator: 'DATE_AFTER', value }] },
    ];
    const strategy = { name: 'default', segments: [1] };
    expect(withStrategy(strategy, { segments: after('2024-05-06T11:59:59Z') }).isEnabled('checkout')).toBe(true);
    expect(withStrategy(strategy, { segments: after('2024-05-06T12:00:01Z') }).isEnabled('checkout')).toBe(false);
  });
});

describe('constraints', () => {
  const wanting = (name: string) => ({ contextName: name, operator: 'IN', values: ['yes'] });

  it.each([1, 2, 3, 4, 5])('must all hold, where there are %i', (count) => {
    const names = Array.from({ length: count }, (_, at) => `field-${at}`);
    const snapshot = withStrategy({ name: 'default', constraints: names.map(wanting) });
    const all = Object.fromEntries(names.map((name) => [name, 'yes']));
    expect(snapshot.isEnabled('checkout', { properties: all })).toBe(true);
    for (const name of names) {
      expect(snapshot.isEnabled('checkout', { properties: { ...all, [name]: 'no' } })).toBe(false);
    }
  });

  it('must all hold beside the test of the strategy', () => {
    const strategy = { name: 'userWithId', parameters: { userIds: 'ada' }, constraints: [wanting('a'), wanting('b')] };
    const isOn = (userId: string, a: string, b: string) =>
      withStrategy(strategy).isEnabled('checkout', { userId, properties: { a, b } });
    expect(isOn('ada', 'yes', 'yes')).toBe(true);
    expect([isOn('bob', 'yes', 'yes'), isOn('ada', 'no', 'yes'), isOn('ada', 'yes', 'no')]).toEqual([
      false,
      false,
      false,
    ]);
  });
});

describe('a missing context', () => {
  it.each([undefined, null])('is treated like an empty one: %s', (context) => {
    const nobody = context as unknown as EvaluationContext;
    const snapshot = snapshotOf([flag({ strategies: [rollout(100)] })], { random: () => 0 });
    expect(snapshot.isEnabled('checkout', nobody)).toBe(true);
    expect(snapshot.getVariant('checkout', nobody).flagEnabled).toBe(true);
    expect(snapshot.evaluate('checkout', nobody)?.enabled).toBe(true);
    expect(snapshot.explain('checkout', nobody)).toMatchObject({ enabled: true, reason: 'strategy' });
  });
});

describe('the variant of a context', () => {
  const variants = weighted(...Array.from({ length: 50 }, () => 1));
  const snapshot = () => snapshotOf([flag({ variants })], { random: () => 0.999 });
  const of = (context: EvaluationContext) => snapshot().getVariant('checkout', context).name;

  it('depends on the user, then the session, then the address, then chance', () => {
    const ada = of({ userId: 'ada' });
    expect(of({ userId: 'ada', sessionId: 's', remoteAddress: 'r' })).toBe(ada);
    expect(of({ sessionId: 'ada' })).toBe(ada);
    expect(of({ userId: '', sessionId: 'ada', remoteAddress: 'r' })).toBe(ada);
    expect(of({ remoteAddress: 'ada' })).toBe(ada);
    expect(of({ userId: '', sessionId: '', remoteAddress: 'ada' })).toBe(ada);
    expect(of({})).toBe('variant-49');
    expect(of({ userId: '' })).toBe('variant-49');
  });

  it('is explained with the bucket in which it was drawn', () => {
    const explained = (context: EvaluationContext) => snapshot().explain('checkout', context).variantChoice;
    expect(explained({})).toMatchObject({ bucket: 50, random: true, overridden: false, totalWeight: 50 });
    expect(explained({})).not.toHaveProperty('id');
    expect(explained({ userId: 'ada' })).toMatchObject({ id: 'ada', random: false });
    expect(explained({ userId: 'ada' })?.bucket).toBe(Number(of({ userId: 'ada' }).slice('variant-'.length)) + 1);
  });
});

describe('variants', () => {
  it('are drawn at random with the stickiness random, whatever the property random is', () => {
    const variants = weighted(1, 1).map((variant) => ({ ...variant, stickiness: 'random' }));
    const context = { userId: 'ada', properties: { random: 'ada' } };
    for (const [at, drawn] of [0, 0.5].entries()) {
      const snapshot = snapshotOf([flag({ variants })], { random: () => drawn });
      expect(snapshot.getVariant('checkout', context).name).toBe(`variant-${at}`);
      expect(snapshot.explain('checkout', context).variantChoice).toMatchObject({ random: true, stickiness: 'random' });
    }
  });

  it('depend on the user if they belong to a strategy without stickiness', () => {
    const variants = [{ name: 'blue', weight: 1 }];
    const snapshot = withStrategy({ name: 'default', variants });
    const { variantChoice } = snapshot.explain('checkout', { userId: 'ada' });
    expect(variantChoice).toMatchObject({ stickiness: 'default', id: 'ada', groupId: 'undefined', random: false });
  });

  it('are never chosen without any weight, overridden or not', () => {
    const overrides = [{ contextName: 'userId', values: ['ada'] }];
    const snapshot = snapshotOf([flag({ variants: [{ name: 'blue', weight: 0, overrides }] })]);
    expect(snapshot.getVariant('checkout', { userId: 'ada' }).name).toBe('disabled');
    expect(snapshot.explain('checkout', { userId: 'ada' })).not.toHaveProperty('variantChoice');
  });
});

describe('a list in a parameter', () => {
  it.each([
    ['a,b', ['a', 'b']],
    ['a , b', ['a', 'b']],
    [' a,\tb\n,c ', [' a', 'b', 'c ']],
    [' a ', [' a ']],
    ['a,,b', ['a', '', 'b']],
    [',', ['', '']],
  ])('has the entries of %j: %j', (text, entries) => {
    expect(splitList(text)).toEqual(entries);
  });
});

describe('recent contexts', () => {
  let flags: Flags;

  async function open(recentContexts?: number): Promise<void> {
    flags = await openFlags({ storage: memoryStorage(), ...(recentContexts !== undefined && { recentContexts }) });
  }
  const evaluate = (...contexts: readonly EvaluationContext[]) => {
    for (const context of contexts) flags.isEnabled('checkout', context);
  };

  afterEach(() => flags.close());

  it('are not kept without the option', async () => {
    await open();
    evaluate({ userId: '7' });
    expect(flags.recentContexts()).toEqual([]);
  });

  it('come from every evaluation method, newest first, each once', async () => {
    await open(10);
    flags.isEnabled('checkout', { userId: '1' });
    flags.getVariant('checkout', { userId: '2' });
    flags.getPayload('checkout', { userId: '3' });
    flags.forContext({ userId: '4' }).isEnabled('checkout');
    flags.as('ada').isEnabled('checkout', { userId: '1' });
    expect(flags.recentContexts()).toEqual([{ userId: '1' }, { userId: '4' }, { userId: '3' }, { userId: '2' }]);
  });

  it('have a limit: the oldest are evicted', async () => {
    await open(2);
    evaluate({ userId: '1' }, { userId: '2' }, { userId: '1' }, { userId: '3' });
    expect(flags.recentContexts()).toEqual([{ userId: '3' }, { userId: '1' }]);
  });

  it('keep fields and properties that a preview accepts, and no time', async () => {
    await open(10);
    evaluate({
      userId: 7,
      sessionId: 's',
      remoteAddress: '10.0.0.1',
      environment: 'blue',
      appName: 'shop',
      currentTime: new Date(),
      properties: { country: 'DE', age: 30, member: true, list: ['a'], none: null, nested: {} },
    });
    expect(flags.recentContexts()).toEqual([
      {
        userId: 7,
        sessionId: 's',
        remoteAddress: '10.0.0.1',
        environment: 'blue',
        appName: 'shop',
        properties: { country: 'DE', age: 30, member: true },
      },
    ]);
  });

  it('are copies', async () => {
    await open(10);
    const context = { userId: '1', properties: { plan: 'free' } };
    evaluate(context);
    context.properties.plan = 'pro';
    expect(flags.recentContexts()).toEqual([{ userId: '1', properties: { plan: 'free' } }]);
  });

  it('omit empty, large or unreadable values, and evaluation does not throw', async () => {
    await open(10);
    const many = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`p${index}`, index]));
    const broken = new Proxy({}, { get: () => JSON.parse('no json') });
    evaluate({}, { userId: 'x'.repeat(1_001) }, { userId: '1', properties: many }, broken);
    flags.isEnabled('checkout');
    flags.isEnabled('checkout', null as unknown as EvaluationContext);
    expect(flags.recentContexts()).toEqual([]);
  });

  it('do not include those of explanations and previews', async () => {
    await open(10);
    await flags.createFlag({ project: 'default' }, { name: 'checkout' });
    flags.explain('checkout', { userId: '1' });
    await flags.preview([{ op: 'updateFlag', ref: { project: 'default', flag: 'checkout' }, input: { stale: true } }], {
      environment: 'production',
      contexts: [{ userId: '2' }],
    });
    expect(flags.recentContexts()).toEqual([]);
  });

  it.each([-1, 1.5, 1_001, '10'])('are limited to a number up to 1,000, not %j', async (recentContexts) => {
    await open();
    await expect(
      openFlags({ storage: memoryStorage(), recentContexts: recentContexts as number }),
    ).rejects.toMatchObject({ code: 'invalid_input', details: [{ path: '/recentContexts' }] });
  });
});

const variants = [{ name: 'blue', weight: 1 }];
const varied = flag({ name: 'varied', variants });

describe('usage', () => {
  it('is counted per result and per variant, and drained once', () => {
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

  it('is not counted for explanations, plain evaluations and parents', () => {
    const counters = new UsageCounters();
    const child = flag({ dependencies: [{ flag: 'varied', variants: ['blue'] }] });
    const snapshot = snapshotOf([varied, child], { counters });
    snapshot.explain('varied');
    snapshot.evaluate('varied');
    snapshot.isEnabled('checkout');
    expect(counters.drain()).toEqual([{ flag: 'checkout', yes: 1, no: 0, variants: [] }]);
  });

  it('is counted for 100 unknown names between two drains, and continues when a flag gets the name', () => {
    const counters = new UsageCounters();
    const snapshot = snapshotOf([], { counters });
    for (let n = 0; n < 150; n++) snapshot.isEnabled(`typo-${n}`, {}, n === 0);
    snapshot.getVariant('typo-0');
    const created = snapshot.with({ flags: [flag({ name: 'typo-0' })] });
    created.isEnabled('typo-0');
    const drained = counters.drain();
    expect(drained).toHaveLength(100);
    expect(drained[0]).toEqual({ flag: 'typo-0', yes: 2, no: 1, variants: [] });
    created.isEnabled('typo-0');
    snapshot.isEnabled('typo-149');
    expect(counters.drain()).toMatchObject([
      { flag: 'typo-0', yes: 1 },
      { flag: 'typo-149', no: 1 },
    ]);
  });

  it('is counted again after a flag was evicted, even if its parts are the same objects', () => {
    const counters = new UsageCounters();
    const before = snapshotOf([varied], { counters });
    counters.forget('varied');
    before.with({ flags: [{ ...varied }] }).getVariant('varied');
    expect(counters.drain()).toEqual([{ flag: 'varied', yes: 1, no: 0, variants: [{ variant: 'blue', count: 1 }] }]);
  });

  it('is counted together by old and new snapshots', () => {
    const counters = new UsageCounters();
    const before = snapshotOf([varied], { counters });
    const after = before.with({ flags: [{ ...varied, enabled: false }] });
    before.getVariant('varied');
    before.getVariant('varied');
    after.isEnabled('varied');
    expect(counters.drain()).toEqual([{ flag: 'varied', yes: 2, no: 1, variants: [{ variant: 'blue', count: 2 }] }]);
  });

  it('is drained once more for a removed flag, and counted again when the flag is back', () => {
    const counters = new UsageCounters();
    const before = snapshotOf([varied], { counters });
    before.isEnabled('varied');
    const without = before.with({ removedFlags: ['varied'] });
    expect(counters.drain()).toMatchObject([{ flag: 'varied', yes: 1 }]);
    const back = without.with({ flags: [varied] });
    back.isEnabled('varied');
    expect(counters.drain()).toMatchObject([{ flag: 'varied', yes: 1 }]);
    back.with({ removedFlags: ['varied'] });
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
    const recompiled = first.with({ flags: [varied] });
    expect(countedTwice(counters, () => recompiled.isEnabled('varied'))).toBe(true);
    const back = recompiled.with({ removedFlags: ['varied'] }).with({ flags: [varied] });
    expect(countedTwice(counters, () => back.isEnabled('varied'))).toBe(true);
  });

  it('is deleted by the first drain after its flag was removed, whatever an older snapshot counts', () => {
    const counters = new UsageCounters();
    const before = snapshotOf([varied, flag()], { counters });
    before.with({ removedFlags: ['varied'] });
    expect(countedTwice(counters, () => before.isEnabled('varied'))).toBe(false);
    before.with({ removedFlags: ['checkout'] });
    expect(countedTwice(counters, () => before.isEnabled('checkout'))).toBe(false);
  });

  it('is deleted at once on demand', () => {
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

  it('are sent for flags with impression data', () => {
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

  it('do not include those of other projects', () => {
    const { impressions, snapshot } = told(false);
    const unsaid = snapshot.with({ flags: [flag({ name: 'unsaid', variants })] });
    for (const name of ['checkout', 'unsaid']) {
      unsaid.isEnabled(name);
      unsaid.getVariant(name);
    }
    expect(impressions).toEqual([]);
  });
});
