import { inputSchemas } from '@flags/core/integration';
import request from 'supertest';
import { openApiDocument } from '../../src/openapi/document.js';
import { GROUPS } from '../../src/routes/all-routes.js';
import { createDocumentedCheck, type DocumentedCheck } from '../contract/documented.js';
import { EXPRESS_VERSIONS_IN_LENGTH } from '../express-versions.js';
import { createHostApp, type HostApp } from '../host-app.js';
import { EVALUATE, switchOn } from './states.js';

const NAMES = ['__proto__', 'constructor', 'toString', '%00', 'a%2fb', '%F0%9F%98%80', 'x'.repeat(5000)];

const CONTEXTS = [
  '{"sessionId":[[["deep"]]],"userId":null}',
  '{"userId":{"valueOf":1,"toString":1},"currentTime":{"valueOf":"x"}}',
  '{"currentTime":"not a time"}',
  '{"currentTime":1e308}',
  '{"__proto__":{"userId":"ada"},"constructor":1,"properties":{"__proto__":{"a":1}}}',
  '{"properties":[1,2]}',
  '{"properties":"text"}',
  `{"userId":"${'x'.repeat(100_000)}"}`,
  '{"remoteAddress":"::ffff:999.1.1.1","sessionId":-0}',
];

const BODIES: readonly (readonly [string, string])[] = [
  ['{"context":null}', 'INVALID_CONTEXT'],
  ['{"context":"ada"}', 'INVALID_CONTEXT'],
  ['{"context":[]}', 'INVALID_CONTEXT'],
  ['[]', 'INVALID_CONTEXT'],
  ['', 'INVALID_CONTEXT'],
  ['{"context":{"targetingKey":7}}', 'INVALID_CONTEXT'],
  ['{"context":{"targetingKey":{"toString":"x"}}}', 'INVALID_CONTEXT'],
  ['{"context":{"targetingKey":[[["deep"]]]}}', 'INVALID_CONTEXT'],
  ['"text"', 'INVALID_CONTEXT'],
  ['{', 'PARSE_ERROR'],
  [`{"context":${'['.repeat(1000)}${']'.repeat(1000)}}`, 'PARSE_ERROR'],
];

describe.each(EXPRESS_VERSIONS_IN_LENGTH)('OFREP, upon Express $major', (version) => {
  let host: HostApp;
  let checkDocumented: DocumentedCheck;

  beforeEach(async () => {
    host = await createHostApp({ version });
    await switchOn(host.flags, 'checkout', { users: 'ada', payload: { type: 'json', value: '{"__proto__":{"a":1}}' } });
    const { settings } = host.flags;
    checkDocumented = createDocumentedCheck(
      openApiDocument({ groups: GROUPS, schemas: inputSchemas(settings), settings, auth: 'none' }),
    );
  });

  afterEach(async () => {
    expect(host.faults).toEqual([]);
    await host.flags.close();
  });

  const post = async (path: string, body: string) => {
    const response = await request(host.app).post(path).set('content-type', 'application/json').send(body);
    checkDocumented({ method: 'POST', path, response });
    return response;
  };

  it.each(CONTEXTS.map((context) => [context.slice(0, 60), context] as const))(
    'takes the context %s',
    async (_, context) => {
      for (const path of [EVALUATE, `${EVALUATE}/checkout`]) {
        expect((await post(path, `{"context":${context}}`)).status).toBe(200);
      }
      expect({}).not.toHaveProperty('userId');
    },
  );

  it.each(BODIES)('refuses the body %.40s with %s', async (body, errorCode) => {
    const one = await post(`${EVALUATE}/checkout`, body);
    expect([one.status, one.body]).toEqual([400, { key: 'checkout', errorCode, errorDetails: expect.any(String) }]);
    const all = await post(EVALUATE, body);
    expect([all.status, all.body]).toEqual([400, { errorCode, errorDetails: expect.any(String) }]);
  });

  it.each(NAMES.map((name) => [name.slice(0, 20), name] as const))('replies 404 for the flag %s', async (_, name) => {
    const { status, body } = await post(`${EVALUATE}/${name}`, '{}');
    expect([status, body]).toMatchObject([404, { key: decodeURIComponent(name), errorCode: 'FLAG_NOT_FOUND' }]);
  });

  it('refuses a name that cannot be decoded', async () => {
    const { status, body } = await post(`${EVALUATE}/%zz`, '{}');
    expect([status, body]).toEqual([400, { key: '', errorCode: 'INVALID_CONTEXT', errorDetails: expect.any(String) }]);
  });

  it('replies 404 for other paths, and 405 for other methods', async () => {
    const { app } = host;
    for (const path of ['/ofrep', '/ofrep/v1/configuration', '/ofrep/v2/evaluate/flags', `${EVALUATE}/a/b`]) {
      const { body } = await request(app).post(path).expect(404);
      expect(body).toMatchObject({ name: 'NotFoundError', code: 'not_found' });
    }
    for (const path of [EVALUATE, `${EVALUATE}/checkout`]) {
      const { body, headers } = await request(app).get(path).expect(405);
      expect([body.code, headers.allow]).toEqual(['method_not_allowed', 'POST']);
    }
  });
});
