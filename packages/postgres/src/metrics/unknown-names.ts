import type { TableNames } from '../tables.js';
import { columns } from './applications.js';
import { bounded, type MergedReports } from './merged-reports.js';

/** The table expressions that write unknown names, from this parameter on; they come after those of the counters. */
export function unknownExpressions({ table }: TableNames, first: number): string {
  const parameter = (offset: number, type: string) => `$${first + offset}::${type}[]`;
  return `
unknown_names AS (
  INSERT INTO ${table('unknown_names')} AS known (application, flag, rank, count)
  SELECT application, flag, rank, count
  FROM writing, unnest(${parameter(0, 'text')}, ${parameter(1, 'text')}, ${parameter(2, 'bigint')}, ${parameter(3, 'bigint')})
    AS given (application, flag, rank, count)
  WHERE (SELECT count(*) FROM counters) >= 0
  ORDER BY application COLLATE "C", flag COLLATE "C"
  ON CONFLICT (application, flag) DO UPDATE SET
    rank = greatest(known.rank, excluded.rank), count = ${bounded('known.count + excluded.count')}
  RETURNING 1
),
unknown_counters AS (
  INSERT INTO ${table('unknown_counters')} AS known (application, flag, second, yes, no)
  SELECT application, flag, second, yes, no
  FROM writing, unnest(${parameter(4, 'text')}, ${parameter(5, 'text')}, ${parameter(6, 'bigint')}, ${parameter(7, 'bigint')}, ${parameter(8, 'bigint')})
    AS given (application, flag, second, yes, no)
  WHERE (SELECT count(*) FROM unknown_names) >= 0
  ORDER BY application COLLATE "C", flag COLLATE "C", second
  ON CONFLICT (application, flag, second) DO UPDATE SET
    yes = ${bounded('known.yes + excluded.yes')}, no = ${bounded('known.no + excluded.no')}
  RETURNING 1
),
dropped_names AS (
  INSERT INTO ${table('dropped_names')} AS known (application, count)
  SELECT application, count
  FROM writing, unnest(${parameter(9, 'text')}, ${parameter(10, 'bigint')}) AS given (application, count)
  WHERE (SELECT count(*) FROM unknown_counters) >= 0
  ORDER BY application COLLATE "C"
  ON CONFLICT (application) DO UPDATE SET count = known.count + excluded.count
  RETURNING 1
)`;
}

/** The values of those parameters. */
export function unknownColumns({ unknownNames, unknownCounters, droppedNames }: MergedReports) {
  return {
    isEmpty: unknownNames.length + droppedNames.length === 0,
    values: [
      ...columns(unknownNames, ['application', 'flag', 'rank', 'count']),
      ...columns(unknownCounters, ['application', 'flag', 'second', 'yes', 'no']),
      ...columns(droppedNames, ['application', 'dropped']),
    ],
  };
}
