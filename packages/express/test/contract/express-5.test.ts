import { extent } from '../../../../test/extent.js';
import { MEMORY, SQLITE } from '../../../core/test/storage-kinds.js';
import { EXPRESS_5 } from '../express-versions.js';
import { expressAdapter } from './adapters.js';
import { WRITTEN_ROWS } from './rows/all-rows.js';
import { runTable } from './run-table.js';
import { ALL_ROWS, ONE_ROW_PER_ROUTE } from './selected-rows.js';

it('runs upon Express 5', () => {
  expect(require('express/package.json').version).toMatch(/^5\./);
  expect(EXPRESS_5.express.application).not.toHaveProperty('lazyrouter');
});

runTable({
  adapter: expressAdapter(EXPRESS_5),
  storages: [MEMORY],
  rows: extent({ short: WRITTEN_ROWS, full: ALL_ROWS }),
});
runTable({
  adapter: expressAdapter(EXPRESS_5),
  storages: [SQLITE],
  rows: extent({ short: ONE_ROW_PER_ROUTE, full: ALL_ROWS }),
});
