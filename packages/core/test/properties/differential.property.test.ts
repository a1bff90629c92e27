import { expectSameOutcomes } from './same-outcomes.js';
import { STORAGES } from './storages.js';

jest.setTimeout(120_000);

describe('the same operations', () => {
  it('come to the same on every storage: results, refusals, documents and events', async () => {
    await expectSameOutcomes(STORAGES, 20);
  });
});
