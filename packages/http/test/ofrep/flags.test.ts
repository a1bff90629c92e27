import { memoryStorage, openFlags, type Payload, type StrategyInput } from '@flags/core';
import { resolveSwitch } from '@flags/core/integration/openfeature';
import { OFREPProvider } from '@openfeature/ofrep-provider';
import { type Client, OpenFeature } from '@openfeature/server-sdk';
import request from 'supertest';
import { until } from '../../../../test/until.js';
import { type LiveServer, startLiveServer } from '../client/live-server.js';
import { EXPRESS_VERSIONS } from '../express-versions.js';
import { type Followers, PLACES_IN_LENGTH, startFollowers } from '../followers.js';
import { createHostApp, type HostApp } from '../host-app.js';
import { EVALUATE, switchOn } from './states.js';

describe('values by OFREP', () => {
  const IN_GERMANY = { contextName: 'country', operator: 'IN', values: ['DE'] } as const;
  const METADATA = {
    project: 'default',
    type: 'release',
    enabled: true,
    stale: false,
    impressionData: false,
    flagSetId: 'default/production',
    version: expect.stringMatching(/^[0-9a-f]{12}$/),
  };

  describe.each(EXPRESS_VERSIONS)('a flag by OFREP, on Express $major', (version) => {
    it.each<[unknown, Payload]>([
      ['#00f', { type: 'string', value: '#00f' }],
      ['a,b', { type: 'csv', value: 'a,b' }],
      [7.5, { type: 'number', value: '7.5' }],
      [{ a: [1] }, { type: 'json', value: '{"a":[1]}' }],
      [[1, 2], { type: 'json', value: '[1,2]' }],
      [false, { type: 'json', value: 'false' }],
    ])('has the value %j by its payload %j', async (value, payload) => {
      const { app, flags } = await createHostApp({ version });
      await switchOn(flags, 'checkout', { payload });
      const { body } = await request(app).post(`${EVALUATE}/checkout`).send({}).expect(200);
      expect(body).toEqual({ key: 'checkout', value, reason: 'STATIC', variant: 'blue', metadata: METADATA });
      await flags.close();
    });

    it.each(['null', '['.repeat(5000) + ']'.repeat(5000)])(
      'is a PARSE_ERROR with the payload %.10s, which has no value',
      async (value) => {
        const { app, flags } = await createHostApp({ version });
        await switchOn(flags, 'checkout', { payload: { type: 'json', value } });
        await switchOn(flags, 'other');
        const failure = {
          key: 'checkout',
          errorCode: 'PARSE_ERROR',
          errorDetails: 'The payload of variant blue of flag checkout contains no value of type json.',
        };
        const one = await request(app).post(`${EVALUATE}/checkout`).send({});
        expect([one.status, one.body]).toEqual([400, failure]);
        const all = await request(app).post(EVALUATE).send({}).expect(200);
        expect(all.body.flags).toEqual([failure, expect.objectContaining({ key: 'other', value: true })]);
        await flags.close();
      },
    );

    it.each<[string, string, StrategyInput]>([
      ['SPLIT', 'is outside of its percentage', { name: 'flexibleRollout', parameters: { rollout: '0' } }],
      ['UNKNOWN', 'is not in its list', { name: 'userWithId', parameters: { userIds: 'bob' } }],
      ['UNKNOWN', 'matches no constraint', { name: 'default', constraints: [IN_GERMANY] }],
      ['UNKNOWN', 'has only disabled strategies', { name: 'default', disabled: true }],
    ])('answers %s for a context that %s, and DISABLED where it is switched off', async (reason, _, strategy) => {
      const { app, flags } = await createHostApp({ version });
      const production = { project: 'default', flag: 'checkout', environment: 'production' };
      await flags.createFlag(production, { name: 'checkout' });
      await flags.addStrategy(production, strategy);
      const reasons = async () => {
        const context = { targetingKey: 'ada' };
        const one = await request(app).post(`${EVALUATE}/checkout`).send({ context }).expect(200);
        const all = await request(app).post(EVALUATE).send({ context }).expect(200);
        expect([one.body.value, all.body.flags[0].value]).toEqual([false, false]);
        return [one.body.reason, all.body.flags[0].reason];
      };
      expect(await reasons()).toEqual(['DISABLED', 'DISABLED']);
      await flags.enable(production);
      expect(await reasons()).toEqual([reason, reason]);
      await flags.close();
    });

    it('is a boolean without a payload', async () => {
      const { app, flags } = await createHostApp({ version });
      await switchOn(flags, 'checkout');
      await flags.createFlag({ project: 'default' }, { name: 'basket' });
      const { body } = await request(app)
        .post(EVALUATE)
        .send({ context: { targetingKey: 'ada' } })
        .expect(200);
      expect(body).toMatchObject({
        flags: [
          { key: 'basket', value: false, reason: 'DISABLED', metadata: { ...METADATA, enabled: false } },
          { key: 'checkout', value: true, reason: 'STATIC', metadata: METADATA },
        ],
      });
      await flags.close();
    });

    it('is counted, alone and among all flags that the caller may read', async () => {
      const storage = { ...memoryStorage(), close: () => undefined };
      const { app, flags } = await createHostApp({ version, flags: { storage } });
      await switchOn(flags, 'alone');
      await switchOn(flags, 'among');
      await request(app).post(EVALUATE).send({}).expect(200);
      await request(app).post(`${EVALUATE}/alone`).send({}).expect(200);
      await flags.close();
      const reader = await openFlags({ storage });
      expect([...(await reader.usage.count()).lastHour]).toEqual([
        ['alone', { yes: 2, no: 0 }],
        ['among', { yes: 1, no: 0 }],
      ]);
      await reader.close();
    });
  });
});

describe('all flags by OFREP', () => {
  let host: HostApp;

  beforeEach(async () => {
    host = await createHostApp();
    await switchOn(host.flags, 'checkout', { users: 'ada' });
  });

  afterEach(() => host.flags.close());

  const ask = (targetingKey: string, etag = '') =>
    request(host.app).post(EVALUATE).set('if-none-match', etag).send({ context: { targetingKey } });

  it('are not sent again while nothing has changed for the context', async () => {
    const { headers } = await ask('ada').expect(200);
    const again = await ask('ada', headers.etag).expect(304);
    expect(again.text).toBe('');
    expect(again.headers.etag).toBe(headers.etag);
    await ask('ada', `W/${headers.etag}`).expect(304);
    await ask('ada', '*').expect(304);
  });

  it('have no ETag if they exceed 1 MiB', async () => {
    const nameOf = (number: number) => `${'flag-'.repeat(19)}${number}`;
    for (let first = 1000; first < 7000; first += 500) {
      const ref = { project: 'default' };
      await host.flags.apply(
        Array.from(
          { length: 500 },
          (_, at) => ({ op: 'createFlag', ref, input: { name: nameOf(first + at) } }) as const,
        ),
      );
    }
    const { headers, body, text } = await ask('ada').expect(200);
    expect(text.length).toBeGreaterThan(1024 * 1024);
    expect(body.flags).toHaveLength(6001);
    expect(body.flags.at(-1)).toMatchObject({ key: nameOf(6999), value: false, reason: 'DISABLED' });
    expect(headers['content-length']).toBeUndefined();
    expect(headers).not.toHaveProperty('etag');
  });

  it('are sent again after a flag changes', async () => {
    const { headers } = await ask('ada').expect(200);
    await host.flags.disable({ project: 'default', flag: 'checkout', environment: 'production' });
    const { body } = await ask('ada', headers.etag).expect(200);
    expect(body.flags).toMatchObject([{ key: 'checkout', value: false, reason: 'DISABLED' }]);
  });

  it('are sent again for a context with other results', async () => {
    const { headers } = await ask('ada').expect(200);
    const { body } = await ask('bob', headers.etag).expect(200);
    expect(body.flags).toMatchObject([{ key: 'checkout', value: false, reason: 'UNKNOWN' }]);
  });

  it('may be empty', async () => {
    await host.flags.archiveFlag({ project: 'default', flag: 'checkout' });
    const { body } = await ask('ada').expect(200);
    expect(body.flags).toEqual([]);
  });
});

describe.each(PLACES_IN_LENGTH)('the published OFREP provider, served by %s', (place) => {
  const ADA = { targetingKey: 'ada' };

  let server: LiveServer;
  let followers: Followers;
  let client: Client;
  let secret: string;

  const connect = async (secret: string) => {
    const headers: [string, string][] = [['Authorization', `Bearer ${secret}`]];
    await OpenFeature.setProviderAndWait(new OFREPProvider({ baseUrl: followers.url, headers }));
    client = OpenFeature.getClient();
  };

  beforeEach(async () => {
    server = await startLiveServer({ router: { auth: 'token' }, flags: { usage: { interval: 50 } } });
    followers = await startFollowers(server, place);
    const token = await server.flags.tokens.create({ name: 'web', kind: 'client', environment: 'production' });
    secret = token.secret;
    await connect(secret);
  });

  afterEach(async () => {
    await OpenFeature.close();
    await followers.stop();
    await server.stop();
  });

  it('evaluates booleans for its context', async () => {
    await switchOn(server.flags, 'checkout', { users: 'ada' });
    await followers.untilCurrent();
    expect(await client.getBooleanDetails('checkout', false, ADA)).toEqual({
      flagKey: 'checkout',
      value: true,
      reason: 'TARGETING_MATCH',
      variant: undefined,
      flagMetadata: {
        project: 'default',
        type: 'release',
        enabled: true,
        stale: false,
        impressionData: false,
        flagSetId: 'default/production',
        version: resolveSwitch(server.flags, 'checkout', { context: {} })?.metadata.version,
      },
    });
    const other = await client.getBooleanDetails('checkout', true, { targetingKey: 'bob' });
    expect(other).toMatchObject({ value: false, reason: 'UNKNOWN' });
  });

  it('evaluates texts, numbers and objects', async () => {
    await switchOn(server.flags, 'color', { payload: { type: 'string', value: '#00f' } });
    await switchOn(server.flags, 'limit', { payload: { type: 'number', value: '7.5' } });
    await switchOn(server.flags, 'limits', { payload: { type: 'json', value: '{"perMinute":[7]}' } });
    await followers.untilCurrent();
    expect(await client.getStringDetails('color', '', ADA)).toMatchObject({
      value: '#00f',
      variant: 'blue',
      reason: 'STATIC',
    });
    expect(await client.getNumberValue('limit', 0, ADA)).toBe(7.5);
    expect(await client.getObjectValue('limits', {}, ADA)).toEqual({ perMinute: [7] });
  });

  it('returns the default for texts, numbers and objects while the flag is off', async () => {
    await switchOn(server.flags, 'color', { payload: { type: 'string', value: '#00f' }, users: 'bob' });
    await switchOn(server.flags, 'limits', { payload: { type: 'json', value: '{"perMinute":[7]}' }, users: 'bob' });
    await followers.untilCurrent();
    expect(await client.getStringDetails('color', 'red', ADA)).not.toMatchObject({ errorCode: 'TYPE_MISMATCH' });
    expect(await client.getStringValue('color', 'red', ADA)).toBe('red');
    expect(await client.getObjectValue('limits', { perMinute: [1] }, ADA)).toEqual({ perMinute: [1] });
  });

  it('sends its key also in X-API-Key', async () => {
    await switchOn(server.flags, 'checkout');
    await followers.untilCurrent();
    const { secret } = await server.flags.tokens.create({ name: 'key', kind: 'client', environment: 'production' });
    await OpenFeature.setProviderAndWait(
      new OFREPProvider({ baseUrl: followers.url, headers: [['X-API-Key', secret]] }),
    );
    expect(await OpenFeature.getClient().getBooleanValue('checkout', false)).toBe(true);
  });

  it('returns the default for a flag of another type', async () => {
    await switchOn(server.flags, 'color', { payload: { type: 'string', value: '#00f' } });
    await followers.untilCurrent();
    expect(await client.getNumberDetails('color', 5)).toMatchObject({ value: 5, errorCode: 'TYPE_MISMATCH' });
  });

  it('returns the default for a flag that does not exist', async () => {
    expect(await client.getBooleanDetails('unknown', true)).toMatchObject({
      value: true,
      errorCode: 'FLAG_NOT_FOUND',
      errorMessage: 'There is no flag unknown for this client.',
    });
  });

  it('returns the default to clients without a valid token', async () => {
    await switchOn(server.flags, 'checkout');
    await followers.untilCurrent();
    expect(await client.getBooleanValue('checkout', false)).toBe(true);
    await server.flags.tokens.delete({ token: secret });
    await until(async () => !(await client.getBooleanValue('checkout', false)));
    await connect('*:production.unknown');
    expect(await client.getBooleanDetails('checkout', false)).toMatchObject({ value: false, reason: 'ERROR' });
  });

  it('receives a change with its next request', async () => {
    await switchOn(server.flags, 'checkout');
    await followers.untilCurrent();
    expect(await client.getBooleanValue('checkout', false)).toBe(true);
    await server.flags.disable({ project: 'default', flag: 'checkout', environment: 'production' });
    await followers.untilCurrent();
    expect(await client.getBooleanDetails('checkout', true)).toMatchObject({ value: false, reason: 'DISABLED' });
  });

  it('has each of its evaluations counted once', async () => {
    await switchOn(server.flags, 'checkout');
    await followers.untilCurrent();
    for (let evaluations = 0; evaluations < 20; evaluations++) await client.getBooleanValue('checkout', false);
    await followers.close();
    const yes = async () => {
      const { items } = await server.flags.usage.list({ hours: 2 });
      return items.reduce((sum, item) => sum + item.yes, 0);
    };
    await until(async () => (await yes()) >= 20);
    expect(await yes()).toBe(20);
  });
});
