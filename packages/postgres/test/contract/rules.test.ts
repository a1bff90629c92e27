import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { extent } from '../../../../test/extent.js';
import { postgresKind } from './postgres-kind.js';

/** One database for all of the files. */
const mockKind = postgresKind();
jest.mock('../../../core/test/storage-kinds.js', () => ({ STORAGES: [mockKind] }));

const CORE = join(__dirname, '../../../core/test');
/** Files whose rules depend most on the storage: on its reads, its events and its data versions. */
const SELECTED = [
  'change-requests/change-requests',
  'change-requests/gate',
  'change-requests/later',
  'change-requests/times',
  'changesets/repeated-ids',
  'flags/clone',
  'log/event-feed',
  'rollouts/changes',
  'rollouts/gate',
  'rollouts/guard',
  'rollouts/nodes',
  'rollouts/rollouts',
  'rollouts/undo',
  'tokens/token-use',
];

/** Undo computes on what the history reads, the same on every storage. */
const HISTORY = ['log/history.test.ts', 'log/undo.test.ts', 'log/history.property.test.ts'];

/** The files with rules that hold on every storage. */
function rules(): readonly string[] {
  const files = readdirSync(CORE, { recursive: true, encoding: 'utf8' });
  return files.filter(
    (file) => file.endsWith('.test.ts') && readFileSync(join(CORE, file), 'utf8').includes('onEveryStorage('),
  );
}

const files = extent({ short: SELECTED.map((name) => `${name}.test.ts`), full: [...rules(), ...HISTORY] });

describe.each(files)('%s', (file) => {
  require(join(CORE, file));
});
