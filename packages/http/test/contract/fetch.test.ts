import { extent } from '../../../../test/extent.js';
import { MEMORY } from '../../../core/test/storage-kinds.js';
import { FETCH_ADAPTER } from '../../../express/test/contract/adapters.js';
import { runTable } from '../../../express/test/contract/run-table.js';
import { ALL_ROWS, SUCCESSFUL_ROWS } from '../../../express/test/contract/selected-rows.js';

runTable({
  adapter: FETCH_ADAPTER,
  storages: [MEMORY],
  rows: extent({ short: SUCCESSFUL_ROWS, full: ALL_ROWS }),
});
