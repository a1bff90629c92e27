import { expectWholeSets } from '../../../core/test/replica/whole-sets.js';
import { postgresStorage } from '../../src/index.js';
import { ownDatabase } from '../own-database.js';

const database = ownDatabase();

describe('another node on PostgreSQL', () => {
  it.each([
    ['polls', { listen: false, schema: 'polled' }],
    ['listens', { schema: 'listening' }],
  ])('never evaluates half a change set while it %s', async (_, options) => {
    await expectWholeSets(() => postgresStorage({ pool: database.pool(), ...options }));
  });
});
