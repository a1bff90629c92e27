import { join } from 'node:path';

jest.mock('../../storage-kinds.js', () => {
  const kinds = jest.requireActual('../../storage-kinds.js');
  return { ...kinds, STORAGES: [kinds.SQLITE] };
});

/** Files whose rules depend most on the storage: on its reads, its events and its data versions. */
const SELECTED = ['clone', 'event-feed', 'pages', 'reference-races', 'token-use'];

describe.each(SELECTED)('%s', (file) => {
  require(join(__dirname, `../../rules/${file}.test.ts`));
});
