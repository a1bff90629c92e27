import { OFREPProvider } from '@openfeature/ofrep-provider';
import { type Client, OpenFeature } from '@openfeature/server-sdk';
import { type LiveServer, startLiveServer } from '../client/live-server.js';
import { switchOn } from './states.js';

const ADA = { targetingKey: 'ada' };

describe('the published OFREP provider', () => {
  let server: LiveServer;
  let client: Client;

  const connect = async (secret: string) => {
    const headers: [string, string][] = [['Authorization', `Bearer ${secret}`]];
    await OpenFeature.setProviderAndWait(new OFREPProvider({ baseUrl: server.url, headers }));
    client = OpenFeature.getClient();
  };

  beforeEach(async () => {
    server = await startLiveServer({ router: { auth: 'token' } });
    const token = await server.flags.createToken({ name: 'web', kind: 'client', environment: 'production' });
    await connect(token.secret);
  });

  afterEach(async () => {
    await OpenFeature.close();
    await server.stop();
  });

  it('evaluates booleans for its context', async () => {
    await switchOn(server.flags, 'checkout', { users: 'ada' });
    expect(await client.getBooleanDetails('checkout', false, ADA)).toEqual({
      flagKey: 'checkout',
      value: true,
      reason: 'TARGETING_MATCH',
      variant: undefined,
      flagMetadata: { project: 'default', type: 'release', enabled: true, stale: false, impressionData: false },
    });
    const other = await client.getBooleanDetails('checkout', true, { targetingKey: 'bob' });
    expect(other).toMatchObject({ value: false, reason: 'DISABLED' });
  });

  it('evaluates texts, numbers and objects', async () => {
    await switchOn(server.flags, 'color', { payload: { type: 'string', value: '#00f' } });
    await switchOn(server.flags, 'limit', { payload: { type: 'number', value: '7.5' } });
    await switchOn(server.flags, 'limits', { payload: { type: 'json', value: '{"perMinute":[7]}' } });
    expect(await client.getStringDetails('color', '', ADA)).toMatchObject({
      value: '#00f',
      variant: 'blue',
      reason: 'STATIC',
    });
    expect(await client.getNumberValue('limit', 0, ADA)).toBe(7.5);
    expect(await client.getObjectValue('limits', {}, ADA)).toEqual({ perMinute: [7] });
  });

  it('gives the default for texts, numbers and objects while the flag is off', async () => {
    await switchOn(server.flags, 'color', { payload: { type: 'string', value: '#00f' }, users: 'bob' });
    await switchOn(server.flags, 'limits', { payload: { type: 'json', value: '{"perMinute":[7]}' }, users: 'bob' });
    expect(await client.getStringDetails('color', 'red', ADA)).not.toMatchObject({ errorCode: 'TYPE_MISMATCH' });
    expect(await client.getStringValue('color', 'red', ADA)).toBe('red');
    expect(await client.getObjectValue('limits', { perMinute: [1] }, ADA)).toEqual({ perMinute: [1] });
  });

  it('sends its key in X-API-Key, too', async () => {
    await switchOn(server.flags, 'checkout');
    const { secret } = await server.flags.createToken({ name: 'key', kind: 'client', environment: 'production' });
    await OpenFeature.setProviderAndWait(new OFREPProvider({ baseUrl: server.url, headers: [['X-API-Key', secret]] }));
    expect(await OpenFeature.getClient().getBooleanValue('checkout', false)).toBe(true);
  });

  it('gives the default for a flag of another type', async () => {
    await switchOn(server.flags, 'color', { payload: { type: 'string', value: '#00f' } });
    expect(await client.getNumberDetails('color', 5)).toMatchObject({ value: 5, errorCode: 'TYPE_MISMATCH' });
  });

  it('gives the default for a flag that does not exist', async () => {
    expect(await client.getBooleanDetails('unknown', true)).toMatchObject({
      value: true,
      errorCode: 'FLAG_NOT_FOUND',
      errorMessage: 'There is no flag unknown for this client.',
    });
  });

  it('gives the default to clients without a valid token', async () => {
    await switchOn(server.flags, 'checkout');
    await connect('*:production.unknown');
    expect(await client.getBooleanDetails('checkout', false)).toMatchObject({ value: false, reason: 'ERROR' });
  });

  it('sees a change with its next request', async () => {
    await switchOn(server.flags, 'checkout');
    expect(await client.getBooleanValue('checkout', false)).toBe(true);
    await server.flags.disable({ project: 'default', flag: 'checkout', environment: 'production' });
    expect(await client.getBooleanDetails('checkout', true)).toMatchObject({ value: false, reason: 'DISABLED' });
  });
});
