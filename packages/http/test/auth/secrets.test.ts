import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Flags, openFlags } from '@flags/core';
import { inputSchemas } from '@flags/core/integration/http';
import { sqliteStorage } from '@flags/core/sqlite';
import express, { type Express } from 'express';
import request from 'supertest';
import { isWithin } from '../../../../test/processor-time.js';
import { createFlagsRouter, redactUrl } from '../../../express/src/index.js';
import type { Route } from '../../src/api/route.js';
import { openApiDocument } from '../../src/openapi/openapi-document.js';
import { GROUPS, ROUTES } from '../../src/routes.js';

describe('a secret', () => {
  const GIVEN = 'given-by-configuration-4711-and-long-enough';
  const UNKNOWN = '*:*.7f3a9c0d5e2b8f146c7d1a0e9b3f5c8d2e4a6b7c0d1e2f3a';

  interface Lived {
    readonly flags: Flags;
    readonly app: Express;
    readonly directory: string;
    /** The secrets of tokens that were created, given, deleted or only tried. */
    readonly secrets: readonly string[];
    readonly told: unknown[];
    readonly answers: string[];
  }

  let lived: Lived;

  /** A host on SQLite that was administered over HTTP with valid and invalid tokens of every kind, in every place. */
  beforeAll(async () => {
    const directory = mkdtempSync(join(tmpdir(), 'flags-secrets-'));
    const told: unknown[] = [];
    const flags = await openFlags({
      storage: sqliteStorage(join(directory, 'flags.db')),
      onError: (error) => void told.push(error),
      onProblem: (problem) => void told.push(problem),
    });
    flags.onImpression((impression) => void told.push(impression));
    const app = express();
    app.use(createFlagsRouter(flags, { auth: 'token' }));
    const answers: string[] = [];
    await flags.tokens.create({ name: 'given', kind: 'admin', secret: GIVEN });
    const make = async (body: object) => {
      const created = await request(app).post('/api/admin/api-tokens').set('authorization', GIVEN).send(body);
      return String(created.body.secret);
    };
    const admin = await make({ tokenName: 'ops', type: 'admin' });
    const client = await make({ tokenName: 'web', type: 'client', environment: 'production' });
    const deleted = await make({ tokenName: 'gone', type: 'frontend', environment: 'production' });
    await request(app)
      .delete(`/api/admin/api-tokens/${encodeURIComponent(deleted)}`)
      .set('authorization', `Bearer ${admin}`);
    await request(app).post('/api/admin/projects/default/features').set('authorization', admin).send({
      name: 'checkout',
      impressionData: true,
    });
    flags.isEnabled('checkout', { userId: 'ada' });
    const secrets = [GIVEN, UNKNOWN, admin, client, deleted];
    for (const secret of secrets) answers.push(...(await misuse(app, secret)));
    lived = { flags, app, directory, secrets, told, answers };
  });

  afterAll(async () => {
    await lived.flags.close();
    rmSync(lived.directory, { recursive: true });
  });

  /** Sends a secret in wrong places. The replies go to others, who must not see it. */
  async function misuse(app: Express, secret: string): Promise<string[]> {
    const name = encodeURIComponent(secret);
    const attempts = [
      request(app).get('/api/admin/projects').set('authorization', `Basic ${secret}`),
      request(app).get('/api/client/features').set('authorization', `Bearer  ${secret}x`),
      request(app).get('/api/client/features').set('authorization', secret),
      request(app).delete(`/api/admin/api-tokens/${name}-not-quite`).set('authorization', GIVEN),
      request(app)
        .delete(`/api/admin/api-tokens/${name.slice(0, -1)}`)
        .set('authorization', GIVEN),
      request(app).post('/api/admin/api-tokens').set('authorization', secret).send({ tokenName: 1 }),
      request(app).post('/api/client/metrics').set('authorization', secret).send({}),
    ];
    const answers = await Promise.all(attempts);
    return answers.map(({ text, headers }) => text + JSON.stringify(headers));
  }

  /** A whole secret, and its random part. */
  function formsOf(secret: string): readonly string[] {
    const random = secret.split('.')[1] ?? secret;
    return [secret, random, encodeURIComponent(secret), Buffer.from(random).toString('base64').replace(/=+$/, '')];
  }

  function expectNoSecretIn(text: string): void {
    for (const form of lived.secrets.flatMap(formsOf)) expect(text.includes(form) ? form : 'none').toBe('none');
  }

  it('is listed in the tests', () => {
    expect(lived.secrets.map((secret) => secret.length > 20)).toEqual([true, true, true, true, true]);
    expect(() => expectNoSecretIn(`x${GIVEN}x`)).toThrow();
  });

  it('is in no file of the database', () => {
    const texts = readdirSync(lived.directory).map((file) => readFileSync(join(lived.directory, file), 'latin1'));
    expect(texts.length).toBeGreaterThan(1);
    for (const text of texts) expectNoSecretIn(text);
    expect(texts.join('')).toContain('given');
  });

  it('is not in any list', async () => {
    const { flags, app } = lived;
    const isList = ({ method, access, form }: Route) => method === 'GET' && access === 'admin' && !form?.media;
    for (const { path } of ROUTES.filter(isList)) {
      const filled = path.replace(':projectId', 'default').replaceAll(/:\w+/g, 'checkout');
      expectNoSecretIn((await request(app).get(filled).set('authorization', GIVEN)).text);
    }
    expectNoSecretIn(JSON.stringify([(await flags.tokens.list()).items, await flags.events.list({ limit: 1000 })]));
  });

  it('is not in replies to invalid uses, nor in their headers', () => {
    expect(lived.answers.length).toBeGreaterThan(30);
    expectNoSecretIn(lived.answers.join('\n'));
  });

  it('is not in any impression, problem or fault that the host receives', () => {
    expect(lived.told).toMatchObject([{ flag: 'checkout' }]);
    expectNoSecretIn(JSON.stringify(lived.told));
  });

  it('is not in any error of the engine', async () => {
    for (const secret of lived.secrets) {
      const refusals = [
        lived.flags.tokens.delete({ token: `${secret}x` }),
        lived.flags.tokens.create({ name: 'again', kind: 'admin', secret: GIVEN }),
        lived.flags.tokens.create({ name: 'again', kind: 'admin', secret: `${secret} with space` }),
      ];
      for (const refusal of await Promise.allSettled(refusals)) {
        if (refusal.status === 'fulfilled') throw new Error('It was not refused.');
        expectNoSecretIn(`${String(refusal.reason)} ${refusal.reason.stack} ${JSON.stringify(refusal.reason)}`);
      }
    }
  });

  it('is in the OpenAPI document only in a form that no real secret has', () => {
    const { settings } = lived.flags;
    const parts = { groups: GROUPS, schemas: inputSchemas(settings), settings, auth: 'token' } as const;
    const text = JSON.stringify(openApiDocument(parts));
    expectNoSecretIn(text);
    const examples = text.match(/[\w*-]+:[\w*-]+\.[0-9a-f]{20,}/g) ?? [];
    expect(examples.filter((example) => new Set(example.split('.')[1]).size > 2)).toEqual([]);
  });
});

describe('a URL for a log', () => {
  const CREATED = '*:production.7f3a9c0d5e2b8f146c7d1a0e9b3f5c8d2e4a6b7c0d1e2f3a';
  const GIVEN = 'a-secret-of-my-own-with-32-characters';

  it.each([
    [`/api/admin/api-tokens/${GIVEN}`, '/api/admin/api-tokens/[hidden]'],
    [`/flags/API/admin/API-tokens//${GIVEN}/more?a=b`, '/flags/API/admin/API-tokens/[hidden]?a=[hidden]'],
    [`/api/admin/api%2Dtokens/${encodeURIComponent(CREATED)}`, '/api/admin/api%2Dtokens/[hidden]'],
    [`/api/admin/projects/${encodeURIComponent(CREATED)}/features`, '/api/admin/projects/[hidden]/features'],
    [`/api/admin/projects?token=${GIVEN}&limit=7`, '/api/admin/projects?token=[hidden]&limit=7'],
    [`/api/admin/projects?${GIVEN}`, '/api/admin/projects?[hidden]'],
    [
      `/api/client/features?project=shop&project=${encodeURIComponent(CREATED)}`,
      '/api/client/features?project=shop&project=[hidden]',
    ],
    ['/api/frontend?userId=ada&properties[plan]=gold', '/api/frontend?userId=[hidden]&properties[plan]=[hidden]'],
    ['/api/admin/events?from=2026-01-01&type=flag-created', '/api/admin/events?from=2026-01-01&type=flag-created'],
    ['/api/admin/api-tokens', '/api/admin/api-tokens'],
    ['', ''],
    ['/?', '/?'],
  ])('shows %j as %j', (url, shown) => {
    expect(redactUrl(url)).toBe(shown);
  });

  it('is computed quickly for a long URL', async () => {
    const redactAll = () => {
      redactUrl(`/${'a'.repeat(39)}/`.repeat(400));
      for (const letter of ['a', 'z', '/', '=']) redactUrl(letter.repeat(100_000));
      redactUrl(`?${'f&'.repeat(8000)}`);
    };
    expect(await isWithin(500, redactAll)).toBe(true);
  });
});
