import type { TableNames } from '../schema/table-names.js';

/** The tables of the metrics, for the storage's first migration. Text is compared by bytes: code-point order in UTF-8. */
export function metricsTables(names: TableNames): string {
  return `
    CREATE TABLE ${names.table('counters')} (
      second bigint NOT NULL,
      flag text COLLATE "C" NOT NULL,
      yes bigint NOT NULL,
      no bigint NOT NULL,
      PRIMARY KEY (second, flag)
    );
  `;
}
