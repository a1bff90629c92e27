import { MEMORY } from '../../../core/test/storage-kinds.js';
import { EXPRESS_VERSIONS_IN_LENGTH } from '../express-versions.js';
import { expressAdapter } from './adapters.js';
import { type ContractHost, startContractHost } from './contract-host.js';
import { documentedCheckOf } from './documented.js';
import { actionOf } from './endpoints.js';
import { WRITTEN_ROWS } from './rows/all-rows.js';
import { send } from './send.js';
import { CHECKOUT, checkout, FEATURES, FLAG } from './states.js';

const READS = WRITTEN_ROWS.filter(({ request, expect }) => request.method === 'GET' && !expect.code).map(
  (row) => [`${actionOf(row.endpoint)} ${row.name}`, row] as const,
);

describe.each(EXPRESS_VERSIONS_IN_LENGTH)('reading, upon Express $major', (version) => {
  let host: ContractHost;

  beforeEach(async () => {
    host = await startContractHost(expressAdapter(version), MEMORY);
  });

  afterEach(() => host.stop());

  it.each(READS)('answers 304 while nothing has changed: %s', async (_, { given, request }) => {
    await given?.(host.flags);
    const etag = (await send(host.app, request)).headers.etag;
    const again = await send(host.app, { ...request, headers: { ...request.headers, 'if-none-match': etag } });
    expect([again.status, again.text, again.headers.etag]).toEqual([304, '', etag]);
    documentedCheckOf(host.flags)({ ...request, response: again });
    expect(
      (await send(host.app, { ...request, headers: { ...request.headers, 'if-none-match': '"other"' } })).status,
    ).toBe(200);
  });

  it('replies 200 after a change of the flag, and 304 after a new lastSeenAt', async () => {
    await checkout(host.flags);
    const { etag } = (await send(host.app, { method: 'GET', path: FLAG })).headers;
    await host.flags.updateFlag(CHECKOUT, { stale: true });
    const changed = await send(host.app, { method: 'GET', path: FLAG, headers: { 'if-none-match': etag } });
    expect(changed.status).toBe(200);
    expect(changed.headers.etag).not.toBe(etag);
  });

  it('accepts a read ETag as If-Match until the flag changes', async () => {
    await checkout(host.flags);
    const { etag } = (await send(host.app, { method: 'GET', path: FLAG })).headers;
    const edit = { method: 'PUT', path: FLAG, headers: { 'if-match': etag } } as const;
    const first = await send(host.app, { ...edit, body: { name: 'checkout', description: 'First' } });
    expect(first.status).toBe(200);
    const second = await send(host.app, { ...edit, body: { name: 'checkout', description: 'Second' } });
    expect(second.status).toBe(412);
    expect((await host.flags.getFlag(CHECKOUT)).description).toBe('First');
    const third = await send(host.app, {
      ...edit,
      headers: { 'if-match': first.headers.etag },
      body: { name: 'checkout', description: 'Third' },
    });
    expect(third.status).toBe(200);
  });

  it.each(['/api/admin', '/api/admin/unknown', '/api/client/nothing', `${FEATURES}/a/b/c`])(
    'finds nothing at %s, as JSON',
    async (path) => {
      const response = await send(host.app, { method: 'GET', path });
      expect(response.status).toBe(404);
      expect(response.body).toMatchObject({ name: 'NotFoundError', code: 'not_found', details: expect.any(Array) });
    },
  );

  it.each([
    ['PATCH', FEATURES, 'GET, HEAD, POST'],
    ['POST', FLAG, 'DELETE, GET, HEAD, PATCH, PUT'],
    ['GET', `${FLAG}/variants`, 'PATCH, PUT'],
    ['DELETE', '/api/client/metrics', 'POST'],
  ] as const)('refuses %s of %s, and tells what is allowed', async (method, path, allow) => {
    const response = await send(host.app, { method, path });
    expect(response.status).toBe(405);
    expect(response.headers.allow).toBe(allow);
    expect(response.body).toMatchObject({ code: 'method_not_allowed' });
  });
});
