import { extent } from '../../../../test/extent.js';
import { MEMORY } from '../../../core/test/storage-kinds.js';
import { NODE_ADAPTER } from './adapters.js';
import { runTable } from './run-table.js';
import { ALL_ROWS, ONE_ROW_PER_ROUTE } from './selected-rows.js';

// The Express adapter passes every request to the Node handler, and all rows run there.
runTable({
  adapter: NODE_ADAPTER,
  storages: [MEMORY],
  rows: extent({ short: ONE_ROW_PER_ROUTE, full: ALL_ROWS }),
});
