import { installedBinaries, type PostgresServer, sharedServer, startPostgres } from '@flags/test-postgres';
import { extent } from '../../../../test/extent.js';

const SKIPPED =
  'a second major version: none is installed; FLAGS_TEST_POSTGRES_BIN names the directory of its programs';

/**
 * Declares the same tests on the PostgreSQL of the run and, in the full form, on each other major version that is
 * installed, on a server of its own. `server` returns its connection string once tests run.
 */
export function onEveryVersion(declare: (name: string, server: () => string) => void): void {
  declare('PostgreSQL', sharedServer);
  extent({ short: () => undefined, full: () => onOtherVersions(declare) })();
}

function onOtherVersions(declare: (name: string, server: () => string) => void): void {
  const others = installedBinaries();
  if (others.length === 0) it.skip(SKIPPED, () => undefined);
  for (const binaries of others) {
    const name = `PostgreSQL ${binaries.version}`;
    describe(`with ${name} installed`, () => {
      let server: PostgresServer;
      beforeAll(async () => {
        server = await startPostgres({ binaries });
      });
      declare(name, () => server.url());
      // After those of the tests: hooks run in the order in which they are declared.
      afterAll(() => server.close());
    });
  }
}
