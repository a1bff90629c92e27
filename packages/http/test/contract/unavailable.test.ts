import { MEMORY } from '../../../core/test/storage-kinds.js';
import { ROUTES } from '../../src/routes/all-routes.js';
import { EXPRESS_VERSIONS } from '../express-versions.js';
import { expressAdapter } from './adapters.js';
import { startContractHost } from './contract-host.js';
import { documentedCheckOf } from './documented.js';
import { actionOf } from './endpoints.js';
import { WRITTEN_ROWS } from './rows/all-rows.js';
import { send } from './send.js';

describe.each(EXPRESS_VERSIONS)('a closed engine, upon Express $major', (version) => {
  it.each(ROUTES.map(({ action }) => action))('replies to %s with a request to retry later', async (action) => {
    const host = await startContractHost(expressAdapter(version), MEMORY);
    await host.stop();
    const rows = WRITTEN_ROWS.filter(({ endpoint }) => actionOf(endpoint) === action);
    const row = rows.find(({ expect }) => !expect.code) ?? rows[0];
    const request = row?.request ?? { method: 'GET', path: '' };
    const response = await send(host.app, request);
    expect(response.body).toMatchObject({ name: 'ServiceUnavailableError', code: 'closed' });
    expect(response.status).toBe(503);
    documentedCheckOf(host.flags)({ ...request, response });
  });
});
