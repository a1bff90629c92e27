export type { PgClient, PgNotification, PgPool, PgQuery, PgResult } from './driver.js';
export type { PostgresStorageOptions, PostgresStorageSettings } from './options.js';
export { type GrantSqlOptions, grantSql, type MigrationSqlOptions, migrationSql } from './schema/sql.js';
export { postgresStorage } from './storage.js';
