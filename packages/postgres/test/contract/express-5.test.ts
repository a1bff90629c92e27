import { extent } from '../../../../test/extent.js';
import { expressAdapter } from '../../../express/test/contract/adapters.js';
import { runTable } from '../../../express/test/contract/run-table.js';
import { ALL_ROWS, ONE_ROW_PER_ROUTE } from '../../../express/test/contract/selected-rows.js';
import { EXPRESS_5 } from '../../../express/test/express-versions.js';
import { postgresKind } from './postgres-kind.js';

const rows = extent({ short: ONE_ROW_PER_ROUTE, full: ALL_ROWS });

runTable({ adapter: expressAdapter(EXPRESS_5), storages: [postgresKind()], rows });
