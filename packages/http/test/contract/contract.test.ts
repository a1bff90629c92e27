import { extent, isFull } from '../../../../test/extent.js';
import { MEMORY, SQLITE, STORAGES } from '../../../core/test/storage-kinds.js';
import { ROUTES } from '../../src/routes.js';
import { EXPRESS_VERSIONS, EXPRESS_VERSIONS_IN_LENGTH } from '../express-versions.js';
import { PLACES, type Place } from '../followers.js';
import { expressAdapter, FETCH_ADAPTER, followerAdapter, NODE_ADAPTER } from './adapters.js';
import { type ContractHost, startContractHost } from './contract-host.js';
import { documentedCheckOf } from './documented.js';
import { actionOf } from './endpoints.js';
import type { Row } from './row.js';
import { WRITTEN_ROWS } from './rows/all-rows.js';
import { runConcurrency } from './run-concurrency.js';
import { runTable } from './run-table.js';
import { ALL_ROWS, ONE_ROW_PER_ROUTE, ROWS_OF_FOLLOWERS, TWO_ROWS_PER_GROUP } from './selected-rows.js';
import { send } from './send.js';
import { CHECKOUT, checkout, FEATURES, FLAG } from './states.js';

describe('the whole table', () => {
  // The one place where the short form sends all written rows: the Fetch API needs no connections. Adapters and storages
  // test some rows of each group of routes.
  runTable({
    adapter: FETCH_ADAPTER,
    storages: [MEMORY],
    rows: extent({ short: WRITTEN_ROWS, full: ALL_ROWS }),
  });
  runTable({
    adapter: FETCH_ADAPTER,
    storages: [SQLITE],
    rows: extent({ short: TWO_ROWS_PER_GROUP, full: ONE_ROW_PER_ROUTE }),
  });
  for (const place of extent<readonly Place[]>({ short: PLACES.slice(-1), full: PLACES.slice(1) })) {
    const rows = ROWS_OF_FOLLOWERS.filter((row) => isFull || ONE_ROW_PER_ROUTE.includes(row));
    runTable({ adapter: followerAdapter(place), storages: [MEMORY], rows });
  }
  // The Express adapter passes every request to the Node handler, and runs in the short form.
  if (isFull) runTable({ adapter: NODE_ADAPTER, storages: [MEMORY], rows: ALL_ROWS });
});

describe('a closed engine', () => {
  describe.each(EXPRESS_VERSIONS)('a closed engine, on Express $major', (version) => {
    let host: ContractHost;

    beforeAll(async () => {
      host = await startContractHost(expressAdapter(version), MEMORY);
      await host.stop();
    });

    it.each(ROUTES.map(({ action }) => action))('replies to %s with a request to retry later', async (action) => {
      const rows = WRITTEN_ROWS.filter(({ endpoint }) => actionOf(endpoint) === action);
      const row = rows.find(({ expect }) => !expect.code) ?? rows[0];
      const request = row?.request ?? { method: 'GET', path: '' };
      const response = await send(host.app, request);
      expect(response.body).toMatchObject({ name: 'ServiceUnavailableError', code: 'closed' });
      expect(response.status).toBe(503);
      documentedCheckOf(host.flags)({ ...request, response });
    });
  });
});

describe('reading', () => {
  // Files that are written in pieces have no tag.
  const isFile = ({ endpoint }: Row) => actionOf(endpoint) === 'exportEvents';
  const isRead = (row: Row) => row.request.method === 'GET' && !row.expect.code && !isFile(row);
  const READS = WRITTEN_ROWS.filter(isRead).map((row) => [`${actionOf(row.endpoint)} ${row.name}`, row] as const);

  describe.each(EXPRESS_VERSIONS_IN_LENGTH)('reading, on Express $major', (version) => {
    // Reads change nothing, so those of one state share a host.
    const shared = new Map<Row['given'], Promise<ContractHost>>();

    afterAll(async () => {
      for (const host of shared.values()) await (await host).stop();
    });

    async function hostIn(given: Row['given']): Promise<ContractHost> {
      const host = await startContractHost(expressAdapter(version), MEMORY);
      await given?.(host.flags);
      return host;
    }

    it.each(READS)('answers 304 while nothing has changed: %s', async (_, { given, request }) => {
      const opening = shared.get(given) ?? hostIn(given);
      shared.set(given, opening);
      const host = await opening;
      const etag = (await send(host.app, request)).headers.etag;
      const again = await send(host.app, { ...request, headers: { ...request.headers, 'if-none-match': etag } });
      expect([again.status, again.text, again.headers.etag]).toEqual([304, '', etag]);
      documentedCheckOf(host.flags)({ ...request, response: again });
      expect(
        (await send(host.app, { ...request, headers: { ...request.headers, 'if-none-match': '"other"' } })).status,
      ).toBe(200);
    });
  });

  describe.each(EXPRESS_VERSIONS_IN_LENGTH)('reading, on Express $major', (version) => {
    let host: ContractHost;

    beforeEach(async () => {
      host = await startContractHost(expressAdapter(version), MEMORY);
    });

    afterEach(() => host.stop());

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
      'answers 404 at %s, as JSON',
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
      // These paths also match those with a parameter: /events/:featureName, /segments/:segmentId, /api-tokens/:token.
      ['PUT', '/api/admin/events/search', 'POST'],
      ['PATCH', '/api/admin/segments/validate', 'POST'],
      ['GET', '/api/admin/api-tokens/rotate', 'POST'],
    ] as const)('refuses %s of %s, and lists the allowed methods', async (method, path, allow) => {
      const response = await send(host.app, { method, path });
      expect(response.status).toBe(405);
      expect(response.headers.allow).toBe(allow);
      expect(response.body).toMatchObject({ code: 'method_not_allowed' });
    });
  });
});

describe('concurrent requests', () => {
  runConcurrency(STORAGES);
});
