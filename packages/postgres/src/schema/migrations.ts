import { FEED_ROWS, type FeedKind } from '../feed/feed-order.js';
import { metricsTables, unknownNameTables } from '../metrics/schema.js';
import { markRows } from '../stamp/marks.js';
import { actorTokenColumns, documentTables } from './document-tables.js';
import { lockKey } from './lock-key.js';
import { type Place, quoteIdentifier, type TableNames, tableNames } from './table-names.js';

/**
 * Every step from one schema version to the next, the first from nothing to version 1. Only ever appended to. Nodes of
 * the version before keep running while a step is taken, so a step expands (tables, columns with a default, indexes);
 * what nobody uses any more is dropped a release later.
 */
const MIGRATIONS: readonly ((names: TableNames) => string)[] = [
  (names) => metaTable(names) + documentTables(names) + metricsTables(names),
  markRows,
  (names) => actorTokenColumns(names) + unknownNameTables(names),
];

/** The schema version that this library works with. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** Versions and the feed's own numbers, by name. */
function metaTable({ table }: TableNames): string {
  return `
CREATE TABLE ${table('meta')} (
  name text NOT NULL PRIMARY KEY,
  value bigint NOT NULL
);
`;
}

export interface Migration extends Place {
  /** The version to begin at; 0: there are no tables. */
  readonly from: number;
  readonly feed: FeedKind;
}

/** Statements that bring the tables from a version to the newest, for the inside of a transaction. */
export function migrationStatements({ from, feed, ...place }: Migration): string {
  const names = tableNames(place);
  const meta = names.table('meta');
  const steps = MIGRATIONS.slice(from).map((step) => step(names));
  const beginning = `INSERT INTO ${meta} (name, value) VALUES ('schema_version', ${SCHEMA_VERSION}), ('${FEED_ROWS[feed]}', 0);`;
  const going = `UPDATE ${meta} SET value = ${SCHEMA_VERSION} WHERE name = 'schema_version';`;
  return `${steps.join('')}\n${from === 0 ? beginning : going}\n`;
}

/** Of all who would migrate at the same moment, one does. The lock ends with the transaction. */
export function takeMigrationLock(place: Place): string {
  return `SELECT pg_advisory_xact_lock(${lockKey('migration', place)})`;
}

export function createSchema({ schema }: Place): string {
  return `CREATE SCHEMA IF NOT EXISTS ${quoteIdentifier(schema)}`;
}
