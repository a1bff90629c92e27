import type { Payload } from '@flags/core';
import { type EvaluationContext, OpenFeature } from '@openfeature/server-sdk';
import { DEFAULT, type Host, startHost, stopHosts, switchOn } from './host.js';

describe('a boolean', () => {
  let host: Host;

  beforeEach(async () => {
    host = await startHost();
  });

  afterEach(stopHosts);

  it('is true if the flag is on', async () => {
    const { flags, client } = host;
    await switchOn(flags, { name: 'checkout', strategy: { name: 'userWithId', parameters: { userIds: 'ada' } } });
    expect(await client.getBooleanValue('checkout', false, { targetingKey: 'ada' })).toBe(true);
    expect(await client.getBooleanValue('checkout', true, { targetingKey: 'bob' })).toBe(false);
  });

  it('has a reason and the metadata of the flag', async () => {
    const { flags, client } = host;
    await switchOn(flags, { name: 'checkout' });
    expect(await client.getBooleanDetails('checkout', false)).toEqual({
      flagKey: 'checkout',
      value: true,
      reason: 'STATIC',
      flagMetadata: {
        project: 'default',
        type: 'release',
        enabled: true,
        stale: false,
        impressionData: false,
        flagSetId: 'default/production',
        version: expect.stringMatching(/^[0-9a-f]{12}$/),
      },
    });
  });

  it('is false, and not the default, if the flag is off', async () => {
    const { flags, client } = host;
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    expect(await client.getBooleanDetails('checkout', true)).toMatchObject({ value: false, reason: 'DISABLED' });
  });

  it('is the default for a flag that does not exist', async () => {
    for (const name of ['unknown', '__proto__', 'constructor', '']) {
      expect(await host.client.getBooleanDetails(name, true)).toMatchObject({
        value: true,
        reason: 'ERROR',
        errorCode: 'FLAG_NOT_FOUND',
        errorMessage: `There is no flag ${name}.`,
      });
    }
  });

  it('is on for a flag with variants, whatever their payloads', async () => {
    const { flags, client } = host;
    await switchOn(flags, {
      name: 'checkout',
      variants: [{ name: 'blue', payload: { type: 'json', value: 'false' } }],
    });
    expect(await client.getBooleanValue('checkout', false)).toBe(true);
  });

  it('follows a change as soon as its promise resolves', async () => {
    const { flags, client } = host;
    await switchOn(flags, { name: 'checkout' });
    await flags.disable({ ...DEFAULT, flag: 'checkout', environment: 'production' });
    expect(await client.getBooleanValue('checkout', true)).toBe(false);
  });

  it('is evaluated in the environment of the provider', async () => {
    const { flags, client } = await startHost({ provider: { environment: 'development' } });
    await switchOn(flags, { name: 'checkout' });
    expect(await client.getBooleanDetails('checkout', true)).toMatchObject({ value: false, reason: 'DISABLED' });
  });
});

describe('the context', () => {
  const constrained = (contextName: string, ...values: readonly string[]) => ({
    name: 'default' as const,
    constraints: [{ contextName, operator: 'IN' as const, values }],
  });

  let host: Host;

  beforeEach(async () => {
    host = await startHost();
  });

  afterEach(stopHosts);

  it.each([
    ['the targeting key, as the user', 'userId', 'ada', { targetingKey: 'ada' }],
    ['the user, before the targeting key', 'userId', 'ada', { targetingKey: 'device', userId: 'ada' }],
    ['a number, as its text', 'sessionId', '7', { sessionId: 7 }],
    ['a property', 'plan', 'pro', { plan: 'pro' }],
    ['a boolean property', 'staff', 'true', { staff: true }],
    ['a date, as ISO 8601', 'since', '2026-03-01T12:00:00.000Z', { since: new Date('2026-03-01T12:00:00Z') }],
    ['properties of its own', 'plan', 'pro', { properties: { plan: 'pro' } }],
  ])('can have %s', async (_, field, value, context) => {
    await switchOn(host.flags, { name: 'checkout', strategy: constrained(field, value) });
    expect(await host.client.getBooleanValue('checkout', false, context as EvaluationContext)).toBe(true);
    expect(await host.client.getBooleanValue('checkout', true, { targetingKey: 'someone else' })).toBe(false);
  });

  it('is merged from those of the application, the client and the call', async () => {
    const constraints = ['region', 'plan', 'userId'].flatMap((field) => constrained(field, 'right').constraints);
    await switchOn(host.flags, { name: 'checkout', strategy: { name: 'default', constraints } });
    OpenFeature.setContext({ region: 'right', plan: 'wrong', targetingKey: 'wrong' });
    host.client.setContext({ plan: 'right', targetingKey: 'wrong' });
    expect(await host.client.getBooleanValue('checkout', false, { targetingKey: 'right' })).toBe(true);
    expect(await host.client.getBooleanValue('checkout', true)).toBe(false);
  });

  it('can have any content', async () => {
    const { flags, client } = host;
    await switchOn(flags, { name: 'checkout', strategy: constrained('nested', 'x') });
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    const unreadable = {
      toString: () => {
        throw new Error('unreadable');
      },
    };
    for (const nested of [
      cyclic,
      [cyclic],
      unreadable,
      Symbol('x'),
      1n,
      null,
      new Date(Number.NaN),
      Object.create(null),
    ]) {
      const context = { targetingKey: nested, nested, currentTime: nested, properties: nested };
      const details = await client.getBooleanDetails('checkout', true, context as unknown as EvaluationContext);
      expect(details).toMatchObject({ value: false, reason: 'DEFAULT' });
      expect(await client.getStringValue('checkout', 'mine', context as unknown as EvaluationContext)).toBe('mine');
    }
  });
});

describe('a value', () => {
  let host: Host;

  beforeEach(async () => {
    host = await startHost();
  });

  afterEach(stopHosts);

  const withPayload = (payload: Payload) =>
    switchOn(host.flags, { name: 'limit', variants: [{ name: 'low', payload }] });

  it.each([
    ['string', 'seven'],
    ['csv', 'a,b'],
  ] as const)('is a text for a payload of type %s', async (type, value) => {
    await withPayload({ type, value });
    expect(await host.client.getStringValue('limit', 'none')).toBe(value);
  });

  it('is a number for a payload of type number', async () => {
    await withPayload({ type: 'number', value: '7.5' });
    expect(await host.client.getNumberValue('limit', 0)).toBe(7.5);
  });

  it.each([
    ['an object', '{"perMinute":7}', { perMinute: 7 }],
    ['a list', '[1,2]', [1, 2]],
  ])('is %s for a payload of type json', async (_, value, expected) => {
    await withPayload({ type: 'json', value });
    expect(await host.client.getObjectValue('limit', {})).toEqual(expected);
  });

  it('is parsed once, and cannot be changed', async () => {
    await withPayload({ type: 'json', value: '{"perMinute":7}' });
    const first = await host.client.getObjectValue('limit', {});
    expect(await host.client.getObjectValue('limit', {})).toBe(first);
    expect(Object.isFrozen(first)).toBe(true);
  });

  it('has a variant, a reason and the metadata of the flag', async () => {
    const payload = (value: string) => ({ type: 'number', value }) as const;
    const variants = [
      { name: 'low', payload: payload('7') },
      { name: 'high', payload: payload('70') },
    ];
    await switchOn(host.flags, { name: 'limit', variants });
    const details = await host.client.getNumberDetails('limit', 0, { targetingKey: '7' });
    expect(details).toEqual({
      flagKey: 'limit',
      value: details.variant === 'low' ? 7 : 70,
      variant: expect.stringMatching(/^(?:low|high)$/),
      reason: 'SPLIT',
      flagMetadata: {
        project: 'default',
        type: 'release',
        enabled: true,
        stale: false,
        impressionData: false,
        flagSetId: 'default/production',
        version: expect.stringMatching(/^[0-9a-f]{12}$/),
      },
    });
  });

  it.each([
    ['number', { type: 'string', value: '7' }],
    ['string', { type: 'number', value: '7' }],
    ['object', { type: 'json', value: '"text"' }],
    ['object', { type: 'json', value: 'true' }],
    ['number', { type: 'json', value: '{}' }],
  ] as const)('is the default for a %s, when the payload is %j', async (type, payload) => {
    await withPayload(payload);
    const details = await {
      string: () => host.client.getStringDetails('limit', 'mine'),
      number: () => host.client.getNumberDetails('limit', -1),
      object: () => host.client.getObjectDetails('limit', { mine: true }),
    }[type]();
    expect(details).toMatchObject({
      value: { string: 'mine', number: -1, object: { mine: true } }[type],
      reason: 'ERROR',
      errorCode: 'TYPE_MISMATCH',
      errorMessage: expect.stringContaining('variant low of flag limit'),
    });
  });

  it.each(['null', '['.repeat(101) + ']'.repeat(101)])(
    'is the default for the payload %s, which has no value',
    async (value) => {
      await withPayload({ type: 'json', value });
      expect(await host.client.getObjectDetails('limit', { mine: true })).toMatchObject({
        value: { mine: true },
        errorCode: 'PARSE_ERROR',
      });
    },
  );

  it('is the default where the flag is off', async () => {
    await host.flags.createFlag(DEFAULT, { name: 'limit' });
    const details = await host.client.getNumberDetails('limit', 5);
    expect(details).toMatchObject({ value: 5, reason: 'DISABLED' });
    expect(details.errorCode).toBeUndefined();
  });

  it('is the default for users who do not get the flag', async () => {
    const strategy = { name: 'userWithId', parameters: { userIds: 'ada' } } as const;
    const variants = [{ name: 'low', payload: { type: 'number', value: '7' } as const }];
    await switchOn(host.flags, { name: 'limit', strategy, variants });
    expect(await host.client.getNumberDetails('limit', 5, { targetingKey: 'bob' })).toMatchObject({
      value: 5,
      reason: 'DEFAULT',
    });
    expect(await host.client.getNumberDetails('limit', 5, { targetingKey: 'ada' })).toMatchObject({ value: 7 });
  });

  it('is the default where there are no variants, or none with a payload', async () => {
    await switchOn(host.flags, { name: 'bare' });
    await switchOn(host.flags, { name: 'named', variants: [{ name: 'low' }] });
    expect(await host.client.getStringDetails('bare', 'mine')).toMatchObject({ value: 'mine', reason: 'DEFAULT' });
    expect(await host.client.getStringDetails('named', 'mine')).toMatchObject({
      value: 'mine',
      variant: 'low',
      reason: 'DEFAULT',
    });
  });

  it('is the default for a flag that does not exist', async () => {
    const expected = { reason: 'ERROR', errorCode: 'FLAG_NOT_FOUND' };
    expect(await host.client.getStringDetails('unknown', 'mine')).toMatchObject({ ...expected, value: 'mine' });
    expect(await host.client.getNumberDetails('unknown', 5)).toMatchObject({ ...expected, value: 5 });
    expect(await host.client.getObjectDetails('unknown', [1])).toMatchObject({ ...expected, value: [1] });
  });
});
