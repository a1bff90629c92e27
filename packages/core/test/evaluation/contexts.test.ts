import type { EvaluationContext } from '../../src/evaluation/evaluated.types.js';
import { splitList } from '../../src/evaluation/strategies.js';
import { flag, rollout, snapshotOf, weighted, withConstraint, withStrategy } from './one-flag.js';

const MEMBERS = ['userId', 'sessionId', 'remoteAddress', 'environment', 'appName'] as const;

describe('a constraint', () => {
  const isAda = (contextName: string, context: EvaluationContext) =>
    withConstraint({ contextName, operator: 'IN', values: ['ada'] }).isEnabled('checkout', context);

  it.each(MEMBERS)('on %s reads the member, and the property of that name where there is none', (name) => {
    expect(isAda(name, { [name]: 'ada' })).toBe(true);
    expect(isAda(name, { properties: { [name]: 'ada' } })).toBe(true);
    expect(isAda(name, { [name]: 'bob', properties: { [name]: 'ada' } })).toBe(false);
    expect(isAda(name, { [name]: '', properties: { [name]: 'ada' } })).toBe(false);
    for (const other of MEMBERS) expect(isAda(name, { [other]: 'ada' })).toBe(other === name);
  });

  it('on currentTime reads it as text', () => {
    const values = ['2024'];
    const snapshot = withConstraint({ contextName: 'currentTime', operator: 'STR_CONTAINS', values });
    expect(snapshot.isEnabled('checkout', { currentTime: '2024-05-06' })).toBe(true);
    expect(snapshot.isEnabled('checkout', { properties: { currentTime: '2024-05-06' } })).toBe(true);
    expect(snapshot.isEnabled('checkout', {})).toBe(false);
  });

  it('on anything else reads the property, and no member', () => {
    expect(isAda('team', { properties: { team: 'ada' } })).toBe(true);
    expect(isAda('team', { team: 'ada' } as EvaluationContext)).toBe(false);
    expect(isAda('team', { properties: null as never })).toBe(false);
    expect(isAda('team', {})).toBe(false);
  });
});

describe('a number', () => {
  it.each(MEMBERS)('is its text as %s', (name) => {
    const snapshot = withConstraint({ contextName: name, operator: 'IN', values: ['7'] });
    expect(snapshot.isEnabled('checkout', { [name]: 7 })).toBe(true);
    expect(snapshot.isEnabled('checkout', { [name]: 8 })).toBe(false);
  });
});

describe('a context without properties', () => {
  it.each([undefined, null])('has no value for any: %s', (properties) => {
    const snapshot = withConstraint({ contextName: 'team', operator: 'NOT_IN', values: ['a'] });
    expect(snapshot.isEnabled('checkout', { properties: properties as never })).toBe(true);
  });
});

describe('the time of a segment', () => {
  it('is that of the snapshot', () => {
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

  it.each([1, 2, 3, 4, 5])('all have to hold, where there are %i', (count) => {
    const names = Array.from({ length: count }, (_, at) => `field-${at}`);
    const snapshot = withStrategy({ name: 'default', constraints: names.map(wanting) });
    const all = Object.fromEntries(names.map((name) => [name, 'yes']));
    expect(snapshot.isEnabled('checkout', { properties: all })).toBe(true);
    for (const name of names) {
      expect(snapshot.isEnabled('checkout', { properties: { ...all, [name]: 'no' } })).toBe(false);
    }
  });

  it('all have to hold beside the test of the strategy', () => {
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

describe('no context', () => {
  it.each([undefined, null])('is an empty one: %s', (context) => {
    const nobody = context as unknown as EvaluationContext;
    const snapshot = snapshotOf([flag({ strategies: [rollout(100)] })], { random: () => 0 });
    expect(snapshot.isEnabled('checkout', nobody)).toBe(true);
    expect(snapshot.getVariant('checkout', nobody).feature_enabled).toBe(true);
    expect(snapshot.evaluate('checkout', nobody)?.enabled).toBe(true);
    expect(snapshot.explain('checkout', nobody)).toMatchObject({ enabled: true, reason: 'strategy' });
  });
});

describe('the variant of a context', () => {
  const variants = weighted(...Array.from({ length: 50 }, () => 1));
  const snapshot = () => snapshotOf([flag({ variants })], { random: () => 0.999 });
  const of = (context: EvaluationContext) => snapshot().getVariant('checkout', context).name;

  it('goes by the user, then the session, then the address, then chance', () => {
    const ada = of({ userId: 'ada' });
    expect(of({ userId: 'ada', sessionId: 's', remoteAddress: 'r' })).toBe(ada);
    expect(of({ sessionId: 'ada' })).toBe(ada);
    expect(of({ userId: '', sessionId: 'ada', remoteAddress: 'r' })).toBe(ada);
    expect(of({ remoteAddress: 'ada' })).toBe(ada);
    expect(of({ userId: '', sessionId: '', remoteAddress: 'ada' })).toBe(ada);
    expect(of({})).toBe('variant-49');
    expect(of({ userId: '' })).toBe('variant-49');
  });

  it('is explained with where it was drawn', () => {
    const explained = (context: EvaluationContext) => snapshot().explain('checkout', context).variantChoice;
    expect(explained({})).toMatchObject({ bucket: 50, random: true, overridden: false, totalWeight: 50 });
    expect(explained({})).not.toHaveProperty('id');
    expect(explained({ userId: 'ada' })).toMatchObject({ id: 'ada', random: false });
    expect(explained({ userId: 'ada' })?.bucket).toBe(Number(of({ userId: 'ada' }).slice('variant-'.length)) + 1);
  });
});

describe('variants', () => {
  it('are drawn at random by that stickiness, whatever a context calls random', () => {
    const variants = weighted(1, 1).map((variant) => ({ ...variant, stickiness: 'random' }));
    const context = { userId: 'ada', properties: { random: 'ada' } };
    for (const [at, drawn] of [0, 0.5].entries()) {
      const snapshot = snapshotOf([flag({ variants })], { random: () => drawn });
      expect(snapshot.getVariant('checkout', context).name).toBe(`variant-${at}`);
      expect(snapshot.explain('checkout', context).variantChoice).toMatchObject({ random: true, stickiness: 'random' });
    }
  });

  it('of a strategy go by the user where nothing is said', () => {
    const variants = [{ name: 'blue', weight: 1 }];
    const snapshot = withStrategy({ name: 'default', variants });
    const { variantChoice } = snapshot.explain('checkout', { userId: 'ada' });
    expect(variantChoice).toMatchObject({ stickiness: 'default', id: 'ada', groupId: 'undefined', random: false });
  });

  it('without any weight are none, overridden or not', () => {
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
  ])('%j has the entries %j', (text, entries) => {
    expect(splitList(text)).toEqual(entries);
  });
});
