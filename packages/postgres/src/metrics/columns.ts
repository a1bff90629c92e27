import { toStoredText } from '../stored-text.js';

/** Rows as the columns that `unnest` is given. */
export function columns<Row>(rows: readonly Row[], names: readonly (keyof Row)[]): unknown[][] {
  return names.map((name) => rows.map((row) => stored(row[name])));
}

function stored(value: unknown): unknown {
  return typeof value === 'string' ? toStoredText(value) : value;
}
