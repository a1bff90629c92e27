import { extent } from '../../../../test/extent.js';
import { expectSameOutcomes } from '../../../core/test/properties/same-outcomes.js';
import { PROPERTY_STORAGES } from '../../../core/test/storage-kinds.js';
import { postgresKind } from '../contract/postgres-kind.js';

jest.setTimeout(120_000);

describe('the same operations', () => {
  const postgres = postgresKind();

  it('come to the same on PostgreSQL as on every other storage', async () => {
    await expectSameOutcomes([...PROPERTY_STORAGES, postgres], extent({ short: 2, full: 20 }));
  });
});
