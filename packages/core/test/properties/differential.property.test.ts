import { extent } from '../../../../test/extent.js';
import { PROPERTY_STORAGES } from '../storage-kinds.js';
import { expectSameOutcomes } from './same-outcomes.js';

jest.setTimeout(extent({ short: 120_000, full: 900_000 }));

describe('the same operations', () => {
  it('come to the same on every storage: results, refusals, documents and events', async () => {
    await expectSameOutcomes(PROPERTY_STORAGES, extent({ short: 4, full: 60 }));
  });
});
