import { extent } from '../../../../test/extent.js';
import { MEMORY, SQLITE } from '../../../core/test/storage-kinds.js';
import { expressAdapter } from '../../../http/test/contract/adapters.js';
import { runTable } from '../../../http/test/contract/run-table.js';
import { ALL_ROWS, TWO_ROWS_PER_GROUP } from '../../../http/test/contract/selected-rows.js';
import { EXPRESS_4 } from '../../../http/test/express-versions.js';

it('runs on Express 4', () => {
  expect(require('express4/package.json').version).toMatch(/^4\./);
  expect(EXPRESS_4.express.application).toHaveProperty('lazyrouter');
});

runTable({
  adapter: expressAdapter(EXPRESS_4),
  storages: extent({ short: [MEMORY], full: [SQLITE] }),
  rows: extent({ short: TWO_ROWS_PER_GROUP, full: ALL_ROWS }),
});
