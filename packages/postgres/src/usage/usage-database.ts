import type { ReadUsage, UsageDialect, UsageStatement, UsageValues } from '@flags/core/integration/postgres';
import { bumpVersionShard } from '../data-version.js';
import type { Database } from '../database.js';
import {
  bounded,
  fromStoredText,
  lockKey,
  type TableLocation,
  type TableNames,
  tableNames,
  toStoredText,
} from '../tables.js';

export interface UsageDatabase {
  readonly database: Database;
  readonly names: TableNames;
  readonly dialect: UsageDialect;
  /**
   * SQL: the table expression `usage_lock` with one row. A statement that adds usage begins with it and reads from it.
   *
   * Reports share the lock, deletions take it exclusively. So no deletion removes half of a report, and the two do not
   * deadlock. It is an advisory lock of the transaction and needs no session.
   */
  readonly sharedLock: string;
  readonly read: ReadUsage;
  /** Runs deletions in one transaction with the exclusive lock. Returns how many rows the last one has deleted. */
  readonly write: (statements: readonly UsageStatement[]) => Promise<number>;
}

export function usageDatabase(database: Database, location: TableLocation): UsageDatabase {
  const names = tableNames(location);
  const lock = lockKey('usage', location);
  return {
    database,
    names,
    dialect: dialectOf(names),
    sharedLock: `usage_lock AS (SELECT pg_advisory_xact_lock_shared(${lock}))`,
    async read(statement) {
      const rows = await database.query<Record<string, string | null>>(...toQuery(statement));
      return rows.map((row) => Object.values(row).map((text) => text && fromStoredText(text)));
    },
    write: (statements) =>
      database.transaction(
        async ({ query }) => {
          let deleted = 0;
          for (const { text, values } of statements) {
            deleted = (await query(...toQuery({ text: `${text} RETURNING 1`, values }))).length;
          }
          await query(bumpVersionShard(names));
          return deleted;
        },
        { first: `SELECT pg_advisory_xact_lock(${lock})` },
      ),
  };
}

function dialectOf({ table }: TableNames): UsageDialect {
  return {
    tables: {
      recentCounts: table('usage_counts'),
      counts: table('usage_counts'),
      lastSeen: table('usage_last_seen'),
      applications: table('usage_applications'),
      instances: table('usage_instances'),
      batches: table('usage_batches'),
    },
    indexedBy: () => '',
    unindexed: (column) => column,
    sum: (column) => bounded(`sum(${column})`),
    isOneOf: (column) => `${column} = ANY (?::text[])`,
    isSelected: (select) => `ctid = ANY (ARRAY(${select('ctid')}))`,
    // OFFSET keeps the order of the join: each name is looked up in the key, also while the table has no statistics.
    isNamed: ({ table: rows, condition }, named) => `ctid = ANY (ARRAY(
      SELECT row FROM (${named}) AS gone, LATERAL (
        SELECT ctid AS row FROM ${rows} AS counts
        WHERE ${condition} AND counts.flag = gone.flag AND counts.application = gone.application OFFSET 0
      ) AS found))`,
  };
}

/** Numbers the values. A quoted name may have a question mark too. */
function toQuery({ text, values }: UsageStatement): [text: string, values: readonly unknown[]] {
  let number = 0;
  const numbered = text.replace(/"(?:[^"]|"")*"|\?/g, (part) => {
    if (part !== '?') return part;
    number += 1;
    return `$${number}`;
  });
  return [numbered, values.map(toValue)];
}

function toValue(value: UsageValues[number]): unknown {
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? toStoredText(value) : value.map(toStoredText);
}
