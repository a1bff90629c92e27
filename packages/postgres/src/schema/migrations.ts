import { metricsTables } from '../metrics/schema.js';
import { documentTables } from './document-tables.js';
import type { TableNames } from './table-names.js';

/**
 * Every step from one schema version to the next, the first from nothing to version 1. Only ever appended to. Nodes of
 * the version before keep running while a step is taken, so a step expands (tables, columns with a default, indexes);
 * what nobody uses any more is dropped a release later.
 */
export const MIGRATIONS: readonly ((names: TableNames) => string)[] = [
  (names) => documentTables(names) + metricsTables(names),
];
