import { join } from 'node:path';
import { postgresKind } from './postgres-kind.js';

const mockKind = postgresKind();
jest.mock('../../../core/test/storage-kinds.js', () => ({ STORAGES: [mockKind] }));

const CORE = join(__dirname, '../../../core/test/history');

describe.each(['history', 'as-of', 'undo', 'exact-undo.property'])('%s', (name) => {
  require(join(CORE, `${name}.test.ts`));
});
