import { array, assert, asyncProperty, constantFrom, oneof, string, tuple } from 'fast-check';
import request from 'supertest';
import { createHostApp } from '../host-app.js';
import { createOn } from './states.js';

const PRODUCTION = { project: 'default', flag: 'checkout', environment: 'production' };

async function createConstrained(contextName: string, values: readonly string[]) {
  const host = await createHostApp();
  await host.flags.createFlag({ project: 'default' }, { name: 'checkout' });
  await host.flags.addStrategy(PRODUCTION, {
    name: 'default',
    constraints: [{ contextName, operator: 'IN', values }],
  });
  await host.flags.enable(PRODUCTION);
  const isOn = async (query: string) => {
    const { body } = await request(host.app).get(`/api/frontend${query}`).expect(200);
    return body.toggles.length === 1;
  };
  return { ...host, isOn };
}

describe('the context of a browser', () => {
  it.each([
    ['userId', 'userId=x'],
    ['sessionId', 'sessionId=x'],
    ['remoteAddress', 'remoteAddress=x'],
    ['environment', 'environment=x'],
    ['appName', 'appName=x'],
    ['plan', 'properties[plan]=x'],
    ['plan', 'properties%5Bplan%5D=x'],
    ['__proto__', 'properties[__proto__]=x'],
    ['a][b', 'properties[a][b]=x'],
  ])('has %s by %s', async (field, query) => {
    const { flags, isOn } = await createConstrained(field, ['x']);
    expect([await isOn(`?${query}`), await isOn('')]).toEqual([true, false]);
    await flags.close();
  });

  it('has the address of the request unless it names one', async () => {
    const { flags, isOn } = await createConstrained('remoteAddress', ['127.0.0.1', '::1', '::ffff:127.0.0.1']);
    expect([await isOn(''), await isOn('?remoteAddress=192.0.2.1')]).toEqual([true, false]);
    await flags.close();
  });

  it('is evaluated in the environment of the token, whatever environment it names', async () => {
    const { flags, isOn } = await createConstrained('environment', ['development']);
    expect([await isOn('?environment=development'), await isOn('?environment=production')]).toEqual([true, false]);
    await flags.close();
  });

  it('never brings the server down, whatever it holds', async () => {
    const { app, flags, faults } = await createHostApp();
    await createOn(flags, { name: 'checkout' });
    const name = oneof(
      constantFrom('userId', 'properties', 'properties[', 'properties[]', 'properties[[]]', '__proto__', 'currentTime'),
      string({ unit: 'grapheme', maxLength: 10 }),
    );
    const value = oneof(constantFrom('', '[object Object]', '\u0000', 'x'.repeat(2000)), string({ unit: 'grapheme' }));
    const property = asyncProperty(array(tuple(name, value), { maxLength: 5 }), async (pairs) => {
      const query = pairs.map((pair) => pair.map((text) => encodeURIComponent(text)).join('=')).join('&');
      const { status } = await request(app).get(`/api/frontend?${query}`);
      expect([200, 400]).toContain(status);
    });
    await assert(property, { numRuns: 100 });
    expect(faults).toEqual([]);
    await flags.close();
  }, 60_000);

  it.each(['%', '&&&=', 'properties[x', 'properties[x]]=1', 'a=%ff%fe', '=', '?', '[]=1'])(
    'never brings the server down with the query %s',
    async (query) => {
      const { app, flags, faults } = await createHostApp();
      expect((await request(app).get(`/api/frontend?${query}`)).status).toBe(200);
      expect(faults).toEqual([]);
      await flags.close();
    },
  );
});

describe('the answers for a browser', () => {
  it('have an ETag of their content', async () => {
    const { app, flags } = await createHostApp();
    await createOn(flags, { name: 'checkout' });
    const { etag } = (await request(app).get('/api/frontend?userId=7')).headers;
    await request(app).get('/api/frontend?userId=7').set('if-none-match', `${etag}`).expect(304);
    await flags.disable(PRODUCTION);
    await request(app).get('/api/frontend?userId=7').set('if-none-match', `${etag}`).expect(200);
    await flags.close();
  });

  it('do not count as usage, because browsers report their usage', async () => {
    const { app, flags } = await createHostApp();
    await createOn(flags, { name: 'checkout' });
    await request(app).get('/api/frontend').expect(200);
    await flags.close();
    const again = await createHostApp();
    expect((await again.flags.countEvaluations()).lastHour.size).toBe(0);
    await again.flags.close();
  });
});
