import type { Payload } from '@flags/core';
import { DEFAULT, type Host, startHost, stopHosts, switchOn } from './host.js';

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
  ] as const)('is a text by a payload of type %s', async (type, value) => {
    await withPayload({ type, value });
    expect(await host.client.getStringValue('limit', 'none')).toBe(value);
  });

  it('is a number by a payload of type number', async () => {
    await withPayload({ type: 'number', value: '7.5' });
    expect(await host.client.getNumberValue('limit', 0)).toBe(7.5);
  });

  it.each([
    ['an object', '{"perMinute":7}', { perMinute: 7 }],
    ['a list', '[1,2]', [1, 2]],
  ])('is %s by a payload of type json', async (_, value, expected) => {
    await withPayload({ type: 'json', value });
    expect(await host.client.getObjectValue('limit', {})).toEqual(expected);
  });

  it('is parsed once, and cannot be changed', async () => {
    await withPayload({ type: 'json', value: '{"perMinute":7}' });
    const first = await host.client.getObjectValue('limit', {});
    expect(await host.client.getObjectValue('limit', {})).toBe(first);
    expect(Object.isFrozen(first)).toBe(true);
  });

  it('comes with its variant, its reason and what the flag is', async () => {
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
      flagMetadata: { project: 'default', type: 'release', enabled: true, stale: false, impressionData: false },
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
    'is the default for the payload %s, which holds none',
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

  it('is the default for whom the flag is not on', async () => {
    const strategy = { name: 'userWithId', parameters: { userIds: 'ada' } };
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
