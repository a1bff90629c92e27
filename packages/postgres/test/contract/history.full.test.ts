import { join } from 'node:path';
import { extent } from '../../../../test/extent.js';
import { postgresKind } from './postgres-kind.js';

const mockKind = postgresKind();
jest.mock('../../../core/test/storage-kinds.js', () => ({ STORAGES: [mockKind] }));

const CORE = join(__dirname, '../../../core/test/log');

/** Undo computes on what the history reads, the same on every storage. */
const FILES = extent({ short: ['history'], full: ['history', 'undo', 'history.property'] });

describe.each(FILES)('%s', (name) => {
  require(join(CORE, `${name}.test.ts`));
});
