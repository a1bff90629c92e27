export { type Binaries, bundledBinaries, installedBinaries } from './binaries.js';
export { type DatabaseOrigin, type FreshDatabase, freshDatabase } from './fresh-database.js';
export { sharedServer } from './shared-server.js';
export { type PostgresOptions, type PostgresServer, startPostgres } from './start-postgres.js';
