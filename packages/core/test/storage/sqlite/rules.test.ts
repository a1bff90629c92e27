import { join } from 'node:path';

jest.mock('../../storage-kinds.js', () => {
  const kinds = jest.requireActual('../../storage-kinds.js');
  return { ...kinds, STORAGES: [kinds.SQLITE] };
});

/** Files whose rules depend most on the storage: on its reads, its events and its data versions. */
const SELECTED = [
  'change-requests/change-requests',
  'change-requests/gate',
  'change-requests/later',
  'change-requests/times',
  'changesets/reference-races',
  'changesets/repeated-ids',
  'flags/clone',
  'log/event-feed',
  'pages',
  'rollouts/changes',
  'rollouts/gate',
  'rollouts/nodes',
  'rollouts/rollouts',
  'rollouts/undo',
  'tokens/token-use',
];

describe.each(SELECTED)('%s', (file) => {
  require(join(__dirname, `../../${file}.test.ts`));
});
