import type { Awaitable } from '../../base/common.types.js';
import type { Resolution } from './port.js';

/** A statement with a question mark for each value. */
export interface UsageStatement {
  readonly text: string;
  readonly values: UsageValues;
}

/** A list is the value of `isOneOf`. */
export type UsageValues = readonly (string | number | readonly string[])[];

/** Returns the rows of a statement as lists of columns. Numbers may be texts. */
export type ReadUsage = (statement: UsageStatement) => Awaitable<readonly (readonly unknown[])[]>;

/** The tables of usage in a database, and the differences of its SQL. */
export interface UsageDialect {
  readonly tables: Readonly<
    Record<'recentCounts' | 'counts' | 'lastSeen' | 'applications' | 'instances' | 'batches', string>
  >;
  /** Names the index that a statement needs; '' where the database has statistics to choose it by. */
  indexedBy(index: 'counts_by_flag' | 'counts_of_public' | 'unknown_names'): string;
  /** A column that must not choose the index, because another one gives the order. */
  unindexed(column: string): string;
  /** The sum of a column, at most the largest safe integer. */
  sum(column: string): string;
  /** A condition with one value, a list of texts. */
  isOneOf(column: string): string;
  /** The condition that a row of counts is selected. `select` returns a SELECT of the columns that it gets. */
  isSelected(select: (columns: string) => string): string;
  /** The condition that a row of a table is among `rows`, and has the application and the flag of a row of `names`. */
  isNamed(rows: { readonly table: string; readonly condition: string }, names: string): string;
}

/** Returns the table of the counts of a resolution. */
export function tableOf(resolution: Resolution): 'recentCounts' | 'counts' {
  return resolution === 'minute' ? 'recentCounts' : 'counts';
}
