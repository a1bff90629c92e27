import { extent } from '../../../../test/extent.js';
import { expectSameOutcomes } from '../../../core/test/invariants/same-outcomes.js';
import { PROPERTY_STORAGES } from '../../../core/test/storage-kinds.js';
import { expressAdapter } from '../../../http/test/contract/adapters.js';
import { runTable } from '../../../http/test/contract/run-table.js';
import { ALL_ROWS, TWO_ROWS_PER_GROUP } from '../../../http/test/contract/selected-rows.js';
import { EXPRESS_5 } from '../../../http/test/express-versions.js';
import { postgresKind } from './postgres-kind.js';

describe('the HTTP contract', () => {
  const rows = extent({ short: TWO_ROWS_PER_GROUP, full: ALL_ROWS });

  runTable({ adapter: expressAdapter(EXPRESS_5), storages: [postgresKind()], rows, isOneStore: true });
});

describe('the same operations', () => {
  jest.setTimeout(120_000);

  const postgres = postgresKind();

  it('have the same results on PostgreSQL as on every other storage', async () => {
    await expectSameOutcomes([...PROPERTY_STORAGES, postgres], extent({ short: 1, full: 20 }));
  });
});
