export type { PgClient, PgNotification, PgPool, PgQuery, PgResult } from './driver.js';
export type { FeedKind } from './feed/feed-order.js';
export type { PostgresStorageOptions, PostgresStorageSettings } from './options.js';
export { type GrantSqlOptions, grantSql } from './schema/grant-sql.js';
export { type MigrationSqlOptions, migrationSql } from './schema/migration-sql.js';
export { postgresStorage } from './storage.js';
