import type { SqliteStatement } from './database.js';
import { type Condition, toWhere } from './event-conditions.js';

/** So many events are read and sorted without a thought. */
const FEW = 1_000;

/**
 * Finds the condition whose index is to be read: one that few events meet, if there is any. SQLite knows nothing of how
 * many do, and would read half a million events of a project for the ten of an hour. Where all are met often, one whose
 * index gives the events in their order; none of a period of time alone, which is then read from the end.
 *
 * @param statements gives statements whose rows are arrays
 */
export function leadFinder(
  statements: (sql: string) => SqliteStatement,
  table: string,
): (conditions: readonly Condition[]) => Condition | undefined {
  function isMetByFew({ terms }: Condition): boolean {
    const { sql, parameters } = toWhere(terms);
    const limited = `SELECT COUNT(*) FROM (SELECT 1 FROM ${table} ${sql} LIMIT ${FEW})`;
    const [met] = statements(limited).get(...parameters) as readonly [number];
    return met < FEW;
  }

  return (conditions) => {
    const [first] = conditions;
    if (conditions.length <= 1 && first?.index !== 'time') return first;
    return conditions.find(isMetByFew) ?? conditions.find(({ index }) => index !== 'time');
  };
}
