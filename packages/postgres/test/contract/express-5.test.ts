import { extent } from '../../../../test/extent.js';
import { expressAdapter } from '../../../http/test/contract/adapters.js';
import { runTable } from '../../../http/test/contract/run-table.js';
import { ALL_ROWS, ONE_ROW_PER_ROUTE } from '../../../http/test/contract/selected-rows.js';
import { EXPRESS_5 } from '../../../http/test/express-versions.js';
import { postgresKind } from './postgres-kind.js';

const rows = extent({ short: ONE_ROW_PER_ROUTE, full: ALL_ROWS });

runTable({ adapter: expressAdapter(EXPRESS_5), storages: [postgresKind()], rows });
