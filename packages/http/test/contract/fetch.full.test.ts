import { extent } from '../../../../test/extent.js';
import { MEMORY } from '../../../core/test/storage-kinds.js';
import { FETCH_ADAPTER } from './adapters.js';
import { runTable } from './run-table.js';
import { ALL_ROWS, SUCCESSFUL_ROWS } from './selected-rows.js';

runTable({
  adapter: FETCH_ADAPTER,
  storages: [MEMORY],
  rows: extent({ short: SUCCESSFUL_ROWS, full: ALL_ROWS }),
});
