import { extent } from '../../../../test/extent.js';
import { WRITTEN_ROWS } from '../../../express/test/contract/rows/all-rows.js';
import { DERIVED_ROWS } from '../../../express/test/contract/rows/derived.js';
import { runTable } from '../../../express/test/contract/run-table.js';
import { EXPRESS_5 } from '../../../express/test/express-versions.js';
import { postgresKind } from './postgres-kind.js';

/** What all routes refuse alike, they refuse before they ask the storage. */
const rows = [...WRITTEN_ROWS, ...extent({ short: [], full: DERIVED_ROWS })];

runTable({ version: EXPRESS_5, storages: [postgresKind()], rows });
