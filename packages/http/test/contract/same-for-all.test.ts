import { MEMORY } from '../../../core/test/storage-kinds.js';
import { permissionOf } from '../../src/actions.js';
import { toFetchHandler } from '../../src/adapters/fetch.js';
import { createFlagsApi } from '../../src/create-flags-api.js';
import { ADMIN_ROUTES } from '../../src/routes.js';
import { FETCH_ADAPTER } from './adapters.js';
import { type ContractHost, startContractHost } from './contract-host.js';
import { actionOf } from './endpoints.js';
import { WRITTEN_ROWS } from './rows/all-rows.js';
import { send } from './send.js';

/** Every row of a route whose reply is cached for all callers. */
const ROWS = ADMIN_ROUTES.filter(({ sameForAll }) => sameForAll !== undefined).flatMap((route) =>
  WRITTEN_ROWS.filter(({ endpoint, expect }) => actionOf(endpoint) === route.action && !expect.code).map(
    (row) => [`${route.action} ${row.name}`, route, row] as const,
  ),
);

describe('a reply that is the same for all', () => {
  let host: ContractHost;
  afterEach(() => host.stop());

  it.each(ROWS)('is so for a caller with this permission only: %s', async (_, { action }, row) => {
    host = await startContractHost(FETCH_ADAPTER, MEMORY);
    await row.given?.(host.flags);
    const permission = permissionOf(action);
    // Each caller has an API of its own, which has not cached the reply to the other one.
    const asked = [() => true, (_actor: object, one: string) => one === permission].map((authorize) => {
      const api = createFlagsApi(host.flags, { auth: () => ({ name: 'Ada' }), authorize });
      return send(toFetchHandler(api), {
        ...row.request,
        headers: { ...row.request.headers, authorization: undefined },
      });
    });
    const [all, one] = await Promise.all(asked);
    expect([one?.status, one?.text, one?.headers.etag]).toEqual([all?.status, all?.text, all?.headers.etag]);
    expect(one?.status).toBe(row.expect.status);
  });

  it('has a row for each such route', () => {
    expect(new Set(ROWS.map(([, { action }]) => action))).toEqual(
      new Set(ADMIN_ROUTES.filter(({ sameForAll }) => sameForAll).map(({ action }) => action)),
    );
  });
});
