import Database from 'better-sqlite3';

/** What the library has written for one request, for others to write just so. */
export interface SameRows {
  /** Of the database that is to be written. */
  readonly file: string;
  readonly schema: readonly string[];
  /** After so many requests the same rows are written again. */
  readonly among: number;
  readonly writes: readonly RowWrite[];
}

/** One statement with the values that it was last run with. */
export interface RowWrite {
  readonly sql: string;
  /** `{n}` within a text becomes the number of the request. */
  readonly values: readonly (string | number | null)[];
}

const NUMBER = '{n}';

/** Writes these rows, each time in a transaction of its own that is flushed to disk, as a handler does that knows no other. */
export function createBareWrite({ file, schema, among, writes }: SameRows): () => void {
  const database = new Database(file);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  for (const sql of schema) database.exec(sql);
  const prepared = writes.map(({ sql, values }) => ({ statement: database.prepare(sql), values }));
  let number = 0;
  const transaction = database.transaction(() => {
    number = (number + 1) % among;
    for (const { statement, values } of prepared) statement.run(...values.map((value) => numbered(value, number)));
  });
  return () => transaction.immediate();
}

function numbered(value: string | number | null, number: number): string | number | null {
  return typeof value === 'string' ? value.replace(NUMBER, String(number)) : value;
}
