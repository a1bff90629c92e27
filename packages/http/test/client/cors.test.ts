import type { RequestHandler } from 'express';
import request from 'supertest';
import type { CorsOptions } from '../../src/options.js';
import { EXPRESS_VERSIONS } from '../express-versions.js';
import { createHostApp } from '../host-app.js';

const SHOP = 'https://shop.example.org';
const PREFLIGHT = {
  origin: SHOP,
  'access-control-request-method': 'GET',
  'access-control-request-headers': 'authorization,if-none-match',
};

const corsHeaders = (headers: Readonly<Record<string, string>>) =>
  Object.keys(headers).filter((name) => name.startsWith('access-control-'));

describe.each(EXPRESS_VERSIONS)('requests of other origins, upon Express $major', (version) => {
  const createApp = (cors?: CorsOptions) =>
    createHostApp({ version, router: { auth: 'token', ...(cors && { cors }) } });

  it('are allowed to configured origins, refusals too', async () => {
    const { app, flags } = await createApp({ origins: [SHOP] });
    const { secret } = await flags.createToken({ name: 'page', kind: 'frontend', environment: 'production' });
    const granted = await request(app).get('/api/frontend').set({ origin: SHOP, authorization: secret }).expect(200);
    const refused = await request(app).get('/api/frontend').set('origin', SHOP).expect(401);
    for (const { headers } of [granted, refused]) {
      expect(headers).toMatchObject({
        'access-control-allow-origin': SHOP,
        'access-control-expose-headers': 'ETag',
        vary: expect.stringContaining('Origin'),
      });
    }
  });

  it('send preflights without a token', async () => {
    const { app } = await createApp({ origins: [SHOP] });
    for (const path of ['/api/frontend', '/api/frontend/client/metrics']) {
      const { headers, text } = await request(app).options(path).set(PREFLIGHT).expect(204);
      expect(text).toBe('');
      expect(headers).toMatchObject({
        'access-control-allow-origin': SHOP,
        'access-control-allow-methods': 'GET, HEAD, POST',
        'access-control-allow-headers': 'authorization,if-none-match',
        vary: 'Origin, Access-Control-Request-Headers',
      });
    }
  });

  it('keep the Vary header of the host, and have no content length without a body', async () => {
    const varies: RequestHandler = (_request, response, next) => {
      response.vary('Accept-Encoding');
      next();
    };
    const router = { auth: 'none', cors: { origins: [SHOP] } } as const;
    const { app } = await createHostApp({ version, router, before: [varies] });
    const { headers } = await request(app).options('/api/frontend').set(PREFLIGHT).expect(204);
    expect(headers.vary).toBe('Accept-Encoding, Origin, Access-Control-Request-Headers');
    expect(headers).not.toHaveProperty('content-length');
  });

  it('are refused for other origins', async () => {
    const { app } = await createApp({ origins: [SHOP] });
    for (const origin of ['https://evil.example.org', 'null', `${SHOP}.evil.example.org`, 'http://shop.example.org']) {
      const preflight = await request(app)
        .options('/api/frontend')
        .set({ ...PREFLIGHT, origin });
      const { headers } = await request(app).get('/api/frontend').set({ origin });
      for (const one of [preflight.headers, headers]) {
        expect(corsHeaders(one)).toEqual([]);
        expect(one.vary).toContain('Origin');
      }
    }
  });

  it('are allowed to all origins by *', async () => {
    const { app } = await createApp({ origins: '*' });
    const { headers } = await request(app).options('/api/frontend').set(PREFLIGHT).expect(204);
    expect(headers['access-control-allow-origin']).toBe('*');
  });

  it('are allowed only for the frontend API, and only if configured', async () => {
    const { app } = await createApp({ origins: '*' });
    const { app: bare } = await createApp();
    const answers = [
      await request(app).get('/api/client/features').set('origin', SHOP),
      await request(app).options('/api/admin/projects').set(PREFLIGHT),
      await request(app).options('/api/client/features').set(PREFLIGHT),
      await request(bare).options('/api/frontend').set(PREFLIGHT),
      await request(bare).get('/api/frontend').set('origin', SHOP),
    ];
    for (const { headers } of answers) {
      expect(corsHeaders(headers)).toEqual([]);
      expect(headers.vary).toBeUndefined();
    }
  });
});
