import { extent } from '../../../../test/extent.js';
import { MEMORY, SQLITE } from '../../../core/test/storage-kinds.js';
import { expressAdapter } from '../../../http/test/contract/adapters.js';
import { runTable } from '../../../http/test/contract/run-table.js';
import { ALL_ROWS, ONE_ROW_PER_ROUTE } from '../../../http/test/contract/selected-rows.js';
import { EXPRESS_5 } from '../../../http/test/express-versions.js';

it('runs on Express 5', () => {
  expect(require('express/package.json').version).toMatch(/^5\./);
  expect(EXPRESS_5.express.application).not.toHaveProperty('lazyrouter');
});

// In full, each row runs on memory with the Fetch API and with node:http, and here on SQLite.
runTable({
  adapter: expressAdapter(EXPRESS_5),
  storages: extent({ short: [MEMORY], full: [SQLITE] }),
  rows: extent({ short: ONE_ROW_PER_ROUTE, full: ALL_ROWS }),
});
