import type { Statements } from '../database.js';
import { gathered } from '../gathered.js';
import { type StampedTables, stampStatement } from './stamp-statement.js';
import { type StampRow, stampText } from './stamp-text.js';

/** Asks for the stamp: one statement for all who ask in the same turn of the event loop. */
export function stampReader(statements: Statements, tables: StampedTables): () => Promise<string> {
  const text = stampStatement(tables);
  const read = gathered<'stamp', string>(async () => {
    const rows = await statements.query<StampRow>(text);
    const stamp = rows.map(stampText).join();
    return () => stamp;
  });
  return () => read('stamp');
}
