export { backUpFile } from './storage/sqlite/backup.js';
export type { SqliteDatabase, SqliteStatement } from './storage/sqlite/database.js';
export type { NodeDatabase, NodeStatement } from './storage/sqlite/node-database.js';
export type { SqliteStorageOptions, SqliteStorageSettings } from './storage/sqlite/options.js';
export type { SqliteStorage } from './storage/sqlite/storage.js';
export { sqliteStorage } from './storage/sqlite/storage.js';
