import { DEFAULT, type Host, startHost, stopHosts, switchOn } from './host.js';

describe('a boolean', () => {
  let host: Host;

  beforeEach(async () => {
    host = await startHost();
  });

  afterEach(stopHosts);

  it('is whether the flag is on', async () => {
    const { flags, client } = host;
    await switchOn(flags, { name: 'checkout', strategy: { name: 'userWithId', parameters: { userIds: 'ada' } } });
    expect(await client.getBooleanValue('checkout', false, { targetingKey: 'ada' })).toBe(true);
    expect(await client.getBooleanValue('checkout', true, { targetingKey: 'bob' })).toBe(false);
  });

  it('comes with its reason and what the flag is', async () => {
    const { flags, client } = host;
    await switchOn(flags, { name: 'checkout' });
    expect(await client.getBooleanDetails('checkout', false)).toEqual({
      flagKey: 'checkout',
      value: true,
      reason: 'STATIC',
      flagMetadata: { project: 'default', type: 'release', enabled: true, stale: false, impressionData: false },
    });
  });

  it('is off, and not the default, where the flag is off', async () => {
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

  it('shows a change as soon as its promise has resolved', async () => {
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
