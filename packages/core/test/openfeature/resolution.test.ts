import type { StrategyDefinition } from '../../src/evaluation/definitions.types.js';
import type { FlagConfiguration } from '../../src/evaluation/evaluation.types.js';
import { type Flags, memoryStorage, openFlags, type Payload } from '../../src/index.js';
import { reasonFor, reasonForOff } from '../../src/openfeature/reason.js';
import {
  createPacedResolution,
  type FlagResolution,
  resolveSwitch,
  resolveVariant,
} from '../../src/openfeature/resolution.js';
import { toEvaluationContext } from '../../src/openfeature/values.js';
import { memoryUsage } from '../../src/storage/memory/usage.js';
import { payloadValue } from '../../src/typed-flags/payload.js';

describe('a resolution', () => {
  const CHECKOUT = { project: 'default', flag: 'checkout' };
  const PRODUCTION = { ...CHECKOUT, environment: 'production' };
  const ADA = { context: { targetingKey: 'ada' } };

  function metadata(enabled: boolean) {
    return {
      project: 'default',
      type: 'release',
      enabled,
      stale: false,
      impressionData: false,
      flagSetId: 'default/production',
      version: expect.stringMatching(/^[0-9a-f]{12}$/),
    };
  }

  let flags: Flags;

  beforeEach(async () => {
    flags = await openFlags({ storage: memoryStorage() });
    await flags.createFlag({ project: 'default' }, { name: 'checkout' });
    await flags.addStrategy(PRODUCTION, { name: 'userWithId', parameters: { userIds: 'ada' } });
    await flags.enable(PRODUCTION);
  });
  afterEach(() => flags.close());

  it('returns whether a flag is on, the reason, and the flag', () => {
    const answer = (enabled: boolean) => ({ flag: 'checkout', enabled, metadata: metadata(enabled) });
    expect(resolveSwitch(flags, 'checkout', ADA)).toEqual({ ...answer(true), reason: 'TARGETING_MATCH' });
    expect(resolveSwitch(flags, 'checkout', { context: {} })).toEqual({
      ...answer(false),
      reason: 'UNKNOWN',
    });
  });

  it('is counted, alone and as part of all flags', async () => {
    const usage = memoryUsage();
    const counting = await openFlags({ storage: { ...memoryStorage(), usage } });
    for (const name of ['checkout', 'hidden']) await counting.createFlag({ project: 'default' }, { name });
    resolveSwitch(counting, 'checkout', ADA);
    resolveVariant(counting, 'checkout', ADA);
    const resolve = createPacedResolution(counting, ADA);
    for (const isCounted of [true, false]) {
      for await (const page of resolve({ names: ['checkout'], isCounted })) expect(page).toHaveLength(1);
    }
    await counting.close();
    const later = await openFlags({ storage: { ...memoryStorage(), usage } });
    expect([...(await later.usage.count()).lastHour]).toEqual([['checkout', { yes: 0, no: 3 }]]);
    await later.close();
  });

  it('belongs to the named environment', () => {
    const scope = { ...ADA, environment: 'development' };
    expect(resolveSwitch(flags, 'checkout', scope)).toMatchObject({ enabled: false, reason: 'DISABLED' });
    expect(() => resolveSwitch(flags, 'checkout', { ...ADA, environment: 'nowhere' })).toThrow('nowhere');
  });

  it('has the variant, with its payload', async () => {
    await flags.setVariants(CHECKOUT, [{ name: 'blue', payload: { type: 'number', value: '7' } }]);
    const resolution = resolveVariant(flags, 'checkout', ADA);
    expect(resolution).toMatchObject({
      enabled: true,
      variant: { name: 'blue', payload: { type: 'number', value: '7' } },
    });
    const off = resolveVariant(flags, 'checkout', { context: {} });
    expect(off).not.toHaveProperty('variant');
    expect(off).toMatchObject({ enabled: false, withholdsPayload: true });
  });

  it.each([resolveSwitch, resolveVariant])('is undefined for a flag that does not exist, by %p', (resolve) => {
    for (const name of ['unknown', '', '__proto__', 'constructor', '\u{1F600}']) {
      expect(resolve(flags, name, ADA)).toBeUndefined();
    }
  });

  it('finds every flag among many, whatever their names are', async () => {
    const names = ['__proto__', 'constructor', 'A', 'Z', 'a', 'a-b', 'a.b', 'a1', 'toString', 'z', '~'];
    for (const name of names) await flags.createFlag({ project: 'default' }, { name });
    expect(names.map((name) => resolveSwitch(flags, name, ADA)?.flag)).toEqual(names);
    const all: FlagResolution[] = [];
    for await (const page of createPacedResolution(flags, ADA)()) all.push(...page);
    expect(all.map(({ flag }) => flag)).toEqual([...names, 'checkout'].sort());
    expect(all.filter(({ enabled }) => enabled).map(({ flag }) => flag)).toEqual(['checkout']);
  });
});

describe('the version of a flag', () => {
  const DEFAULT = { project: 'default' };
  const refOf = (flag: string) => ({ ...DEFAULT, flag, environment: 'production' });
  const IN_GERMANY = { contextName: 'country', operator: 'IN', values: ['DE'] } as const;
  let flags: Flags;
  let segment: number;

  /** A child with a segment, its parent with the other segment, and a flag that has nothing to do with them. */
  beforeEach(async () => {
    flags = await openFlags({ storage: memoryStorage() });
    const ids = [];
    for (const name of ['of-child', 'of-parent']) {
      ids.push((await flags.segments.create({ name, constraints: [IN_GERMANY] })).id);
    }
    segment = ids[0] ?? 0;
    for (const name of ['child', 'parent', 'unrelated']) await flags.createFlag(DEFAULT, { name });
    await flags.addStrategy(refOf('child'), { name: 'default', segments: ids.slice(0, 1) });
    await flags.addStrategy(refOf('parent'), { name: 'default', segments: ids.slice(1) });
    await flags.addDependency(refOf('child'), { flag: 'parent' });
  });
  afterEach(() => flags.close());

  const versionIn = (source: Flags, environment?: string, flag = 'child') =>
    resolveSwitch(source, flag, { context: {}, ...(environment && { environment }) })?.metadata.version;
  const childVersion = () => versionIn(flags);

  it.each<[string, () => Promise<unknown>]>([
    ['the flag', () => flags.enable(refOf('child'))],
    ['its variants', () => flags.setVariants(refOf('child'), [{ name: 'blue' }])],
    ['its description, which clients receive', () => flags.updateFlag(refOf('child'), { description: 'new' })],
    [
      'the constraints of its segment',
      () => flags.segments.update({ segment }, { constraints: [{ ...IN_GERMANY, values: ['AT'] }] }),
    ],
    ['its parent', () => flags.enable(refOf('parent'))],
    [
      'the constraints of a segment of its parent',
      () => flags.segments.update({ segment: segment + 1 }, { constraints: [] }),
    ],
    ['the parents that it has', () => flags.removeDependency(refOf('child'), { flag: 'parent' })],
  ])('moves with a change of %s, and returns with it', async (_, change) => {
    const before = childVersion();
    const { changeSet } = (await flags.events.list({ limit: 1 })).items[0] ?? {};
    await change();
    expect(childVersion()).not.toBe(before);
    const changed = (await flags.events.list({ limit: 1 })).items[0];
    expect(changed?.changeSet).not.toBe(changeSet);
    await flags.history.undo({ changeSet: changed?.changeSet ?? '' });
    expect(childVersion()).toBe(before);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['another flag', () => flags.addStrategy(refOf('unrelated'), { name: 'default' })],
    [
      'another environment',
      () => flags.addStrategy({ ...refOf('child'), environment: 'development' }, { name: 'default' }),
    ],
    [
      'the owner and the labels, which clients do not receive',
      () => flags.updateFlag(refOf('child'), { owner: 'ada', labels: ['x'] }),
    ],
    ['the name of its segment', () => flags.segments.update({ segment }, { name: 'renamed' })],
  ])('stays with a change of %s', async (_, change) => {
    const before = childVersion();
    await change();
    expect(childVersion()).toBe(before);
  });

  it('is the same on every node, whatever the order of members is', async () => {
    const payload = { type: 'json', value: '{"a":1}' } as const;
    const parameters = { rollout: 50, groupId: 'g', stickiness: 'default' };
    const storage = { ...memoryStorage(), close: () => undefined };
    const nodes = [await openFlags({ storage }), await openFlags({ storage })] as const;
    await nodes[0].createFlag(DEFAULT, { name: 'child' });
    await nodes[0].setVariants(refOf('child'), [{ name: 'blue', payload }]);
    await nodes[0].addStrategy(refOf('child'), { name: 'flexibleRollout', parameters });
    await nodes[1].refresh();
    expect(versionIn(nodes[1])).toBe(versionIn(nodes[0]));
    const reversed = (members: object) => Object.fromEntries(Object.entries(members).reverse());
    await flags.archiveFlag(refOf('child'));
    await flags.deleteFlag(refOf('child'));
    await flags.createFlag(DEFAULT, { name: 'child' });
    await flags.setVariants(refOf('child'), [{ name: 'blue', payload: reversed(payload) as typeof payload }]);
    await flags.addStrategy(refOf('child'), { name: 'flexibleRollout', parameters: reversed(parameters) });
    expect(childVersion()).toBe(versionIn(nodes[0]));
    for (const node of nodes) await node.close();
  });
});

describe('the context of OpenFeature', () => {
  const DAY = new Date('2026-03-01T12:00:00.000Z');

  it('uses its targeting key as the user', () => {
    expect(toEvaluationContext({ targetingKey: '7' })).toMatchObject({ userId: '7', properties: {} });
  });

  it('prefers its userId to its targeting key', () => {
    expect(toEvaluationContext({ targetingKey: 'device', userId: 7 })).toMatchObject({ userId: 7 });
  });

  it('keeps the standard context fields, and has other fields as properties', () => {
    const known = {
      userId: '7',
      sessionId: 's',
      remoteAddress: '::1',
      environment: 'e',
      appName: 'web',
      currentTime: DAY,
    };
    const context = toEvaluationContext({
      ...known,
      plan: 'pro',
      seats: 5,
      properties: { region: 'eu', plan: 'free' },
    });
    expect(context).toEqual({ ...known, properties: { plan: 'free', seats: 5, region: 'eu' } });
  });

  it('has dates among the properties as ISO 8601', () => {
    const { properties } = toEvaluationContext({ since: DAY, never: new Date(Number.NaN), properties: { until: DAY } });
    expect(properties).toEqual({ since: DAY.toISOString(), never: undefined, until: DAY.toISOString() });
  });

  it.each([
    ['a text', '2026-03-01', '2026-03-01'],
    ['milliseconds', DAY.getTime(), DAY],
    ['an object', { valueOf: 'x' }, undefined],
    ['a list', [1], undefined],
    ['null', null, undefined],
  ])('reads %s as the time', (_, currentTime, expected) => {
    expect(toEvaluationContext({ currentTime }).currentTime).toEqual(expected);
  });

  it.each([[null], ['text'], [[1, 2]], [DAY]])('reads %j as no properties', (properties) => {
    expect(toEvaluationContext({ properties }).properties).toEqual({});
  });

  it('keeps properties called __proto__ and constructor as properties', () => {
    const { properties } = toEvaluationContext(JSON.parse('{"__proto__":"p","constructor":"c"}'));
    expect(Object.entries(properties ?? {})).toEqual([
      ['__proto__', 'p'],
      ['constructor', 'c'],
    ]);
  });

  it.each(['its own', 'those of properties'])(
    'has the same properties, read late, when there are very many %s',
    (where) => {
      const many = Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [`m${at}`, at]));
      const few = {
        targetingKey: '7',
        userId: '8',
        since: DAY,
        plan: 'pro',
        list: [1, [2]],
        properties: { plan: 'free' },
      };
      const own = where === 'its own' ? many : {};
      const nested = where === 'its own' ? {} : many;
      const large = { ...few, ...own, properties: { ...few.properties, ...nested } };
      const { properties, ...members } = toEvaluationContext(large);
      const { properties: copied, ...same } = toEvaluationContext(few);
      expect(members).toEqual(same);
      expect({ ...properties }).toEqual({ ...copied, ...many });
      expect(Object.hasOwn(properties ?? {}, 'userId')).toBe(false);
      expect(Object.hasOwn(properties ?? {}, 'constructor')).toBe(false);
    },
  );
});

describe('the value of a payload', () => {
  const json = (value: string): Payload => ({ type: 'json', value });

  it.each([
    ['string', '7', '7'],
    ['string', '', ''],
    ['csv', 'a,b', 'a,b'],
    ['number', '7', 7],
    ['number', '-1.5e3', -1500],
    ['json', '{"a":[1,{"b":null}]}', { a: [1, { b: null }] }],
    ['json', '[1,2]', [1, 2]],
    ['json', '"text"', 'text'],
    ['json', '1.5', 1.5],
    ['json', 'false', false],
  ] as const)('is read from type %s and text %j as %j', (type, value, expected) => {
    expect(payloadValue({ type, value })).toEqual(expected);
  });

  it.each([
    ['number', 'seven'],
    ['number', ''],
    ['number', '0x10'],
    ['number', '1e999'],
    ['json', '{'],
    ['json', ''],
    ['json', 'null'],
  ] as const)('is absent for type %s and text %j', (type, value) => {
    expect(payloadValue({ type, value })).toBeUndefined();
  });

  it('is the same object for the same payload', () => {
    const payload = json('{"a":1}');
    expect(payloadValue(payload)).toBe(payloadValue(payload));
    expect(payloadValue(payload)).not.toBe(payloadValue(json('{"a":1}')));
  });

  it('cannot be changed, at any depth', () => {
    const value = payloadValue(json('{"a":[{"b":{}}]}')) as { a: { b: object }[] };
    expect([value, value.a, value.a[0], value.a[0]?.b].every((part) => Object.isFrozen(part))).toBe(true);
  });

  it('keeps members called __proto__ and constructor as members', () => {
    const value = payloadValue(json('{"__proto__":{"polluted":true},"constructor":1}'));
    expect(Object.entries(value ?? {})).toEqual([
      ['__proto__', { polluted: true }],
      ['constructor', 1],
    ]);
    expect({}).not.toHaveProperty('polluted');
  });

  it('has up to 100 levels', () => {
    const nested = (levels: number) => json('['.repeat(levels) + ']'.repeat(levels));
    expect(payloadValue(nested(100))).toBeDefined();
    expect(payloadValue(nested(101))).toBeUndefined();
    expect(payloadValue(nested(500_000))).toBeUndefined();
  });
});

describe('the reason of an answer', () => {
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

  it.each<[string, string, Partial<FlagConfiguration>]>([
    ['DISABLED', 'that is off in the environment', { enabled: false, strategies: [SHARE] }],
    ['SPLIT', 'with a rollout', { strategies: [SHARE] }],
    ['SPLIT', 'with a list or a rollout', { strategies: [{ name: 'userWithId' }, SHARE] }],
    ['UNKNOWN', 'with a disabled rollout', { strategies: [{ ...SHARE, disabled: true }, { name: 'userWithId' }] }],
    ['UNKNOWN', 'with a rollout with constraints', { strategies: [{ ...SHARE, constraints: [CONSTRAINT] }] }],
    ['UNKNOWN', 'with a parent', { strategies: [SHARE], dependencies: [{ flag: 'parent' }] }],
    ['UNKNOWN', 'with a list of users', { strategies: [{ name: 'userWithId', parameters: { userIds: '7' } }] }],
  ])('is %s for a context without a flag %s', (reason, _, changes) => {
    expect(reasonForOff(flagWith(changes))).toBe(reason);
  });

  it('is TARGETING_MATCH for a flag with a parent', () => {
    expect(reasonFor(flagWith({ dependencies: [{ flag: 'parent' }] }))).toBe('TARGETING_MATCH');
    expect(reasonFor(flagWith({ strategies: [SHARE], dependencies: [{ flag: 'parent' }] }))).toBe('TARGETING_MATCH');
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

  it('prefers the variants of the chosen strategy to those of the flag', () => {
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
