import { bumpVersionShard } from '../data-version.js';
import type { Statement } from '../database.js';
import { type TableNames, toStoredText } from '../tables.js';
import {
  ADD_COUNT,
  ADD_YES_NO,
  type CurrentUsageRow,
  type MergedReports,
  type RegisteredApplication,
} from './merge.js';
import type { MetricsLock } from './metrics-lock.js';

export interface RecordedRows {
  /** A UUID. The same statement sent twice counts once. */
  readonly id: string;
  readonly at: number;
  readonly shard: number;
  readonly merged: MergedReports;
  /** For each of the merged applications, in their order; empty without registrations. */
  readonly registered: readonly RegisteredApplication[];
}

/** The third of the three parameters that every statement begins with. */
const SHARD = '$3::smallint';

/**
 * Creates the function that makes one statement of all rows. A statement takes the rows of every table in key order, and
 * the tables in one order, so that concurrent writers do not deadlock.
 */
export function recordStatements(names: TableNames, lock: MetricsLock): (rows: RecordedRows) => Statement {
  return ({ id, at, shard, merged, registered }) => {
    const values: unknown[] = [id, at, shard];
    const applications = registered.length > 0 ? registeredApplications : seenApplications;
    const expressions = [
      lock.shared,
      `writing AS (
  INSERT INTO ${names.table('metrics_writes')} (id, at) SELECT $1::uuid, $2::bigint FROM metrics_lock
  ON CONFLICT (id) DO NOTHING RETURNING 1
)`,
      applications({ names, values, merged, registered }),
    ];
    let after = 'applications';
    for (const write of [...flagWrites(merged, names), ...unknownNameWrites(merged)]) {
      expressions.push(writeExpression(write, { names, values, after }));
      after = write.table;
    }
    return { text: `WITH ${expressions.join(',\n')}\n${bumpVersionShard(names, [after])}`, values };
  };
}

interface StatementParts {
  readonly names: TableNames;
  /** The parameters. Each list of a column is appended. */
  readonly values: unknown[];
}

type WriteParts = StatementParts & { readonly after: string };

type ApplicationParts = StatementParts & Pick<RecordedRows, 'merged' | 'registered'>;

/** Leaves known applications alone, because all nodes write them. */
function seenApplications({ names, values, merged }: ApplicationParts): string {
  const given = unnest(values, merged.applications, { name: 'text', createdAt: 'bigint' });
  return `applications AS (
  INSERT INTO ${names.table('applications')} (name, strategies, description, url, icon, created_at)
  SELECT name, '[]', '', '', '', created_at FROM writing, ${given} ORDER BY name COLLATE "C"
  ON CONFLICT (name) DO NOTHING RETURNING 1
)`;
}

/** Renews the applications that registered. One pass over all names, those of reports among them, keeps the key order. */
function registeredApplications({ names, values, merged, registered }: ApplicationParts): string {
  const rows = merged.applications.map((application, index) => ({ ...application, ...registered[index] }));
  const given = unnest(values, rows, {
    ...{ name: 'text', createdAt: 'bigint', strategies: 'text', description: 'text' },
    ...{ url: 'text', color: 'text', hasColor: 'boolean', icon: 'text' },
  });
  return `registered AS (SELECT * FROM ${given}),
applications AS (
  INSERT INTO ${names.table('applications')} AS known (name, strategies, description, url, color, icon, created_at)
  SELECT name, coalesce(strategies, '[]'), coalesce(description, ''), coalesce(url, ''), color, coalesce(icon, ''), created_at
  FROM writing, registered ORDER BY name COLLATE "C"
  ON CONFLICT (name) DO UPDATE SET (strategies, description, url, color, icon) = (
    SELECT coalesce(given.strategies, known.strategies), coalesce(given.description, known.description),
      coalesce(given.url, known.url), CASE WHEN given.has_color THEN given.color ELSE known.color END,
      coalesce(given.icon, known.icon)
    FROM registered AS given WHERE given.name = known.name)
  RETURNING 1
)`;
}

/** The rows for one table. */
interface TableWrite {
  readonly table: string;
  readonly rows: readonly object[];
  /** The members of the rows that are stored, with the types of their columns. */
  readonly columns: Columns;
  /** The members of the primary key, in its order. */
  readonly key: readonly string[];
  /** The key also has the shard of this node. */
  readonly isSharded?: boolean;
  /** SQL: the update of a row that exists, `known`, by the new row, `excluded`. */
  readonly update: string;
}

type Columns = Readonly<Record<string, 'text' | 'bigint' | 'boolean'>>;

function flagWrites(
  { instances, usageCurrent, lastSeen, counters }: MergedReports,
  names: TableNames,
): readonly TableWrite[] {
  return [
    {
      table: 'instances',
      rows: instances,
      columns: {
        ...{ application: 'text', id: 'text', clientIp: 'text', sdkVersion: 'text' },
        ...{ createdAt: 'bigint', seenAt: 'bigint' },
      },
      key: ['application', 'id'],
      update: `client_ip = coalesce(excluded.client_ip, known.client_ip),
    sdk_version = coalesce(excluded.sdk_version, known.sdk_version), seen_at = greatest(known.seen_at, excluded.seen_at)`,
    },
    usageWrite(usageCurrent, names),
    {
      table: 'last_seen',
      rows: lastSeen,
      columns: { flag: 'text', at: 'bigint' },
      key: ['flag'],
      isSharded: true,
      update: 'at = excluded.at WHERE known.at < excluded.at',
    },
    {
      table: 'counters',
      rows: counters,
      columns: { second: 'bigint', flag: 'text', yes: 'bigint', no: 'bigint' },
      key: ['second', 'flag'],
      isSharded: true,
      update: ADD_YES_NO,
    },
  ];
}

/** Characters of variants from which on their counts are added up, and no longer joined. */
const LONG = 500;

/** The variants are lists of pairs, joined by commas. Adding them up takes longer than joining them. */
function addVariants({ table }: TableNames): string {
  return `variants = CASE WHEN length(known.variants) > ${LONG}
      THEN ${table('add_variants')}(known.variants, excluded.variants)
      ELSE coalesce(known.variants || ',' || excluded.variants, known.variants, excluded.variants) END`;
}

/** Names the variants only if there are any, because planning takes longer than running. */
function usageWrite(rows: readonly CurrentUsageRow[], names: TableNames): TableWrite {
  const hasVariants = rows.some(({ variants }) => variants !== null);
  return {
    table: 'usage_current',
    rows,
    columns: {
      ...{ application: 'text', flag: 'text', environment: 'text', start: 'bigint', yes: 'bigint', no: 'bigint' },
      ...(hasVariants && { variants: 'text' as const }),
    },
    key: ['application', 'flag', 'environment', 'start'],
    isSharded: true,
    update: hasVariants ? `${ADD_YES_NO}, ${addVariants(names)}` : ADD_YES_NO,
  };
}

/** Empty without unknown names, as in most statements, because planning takes longer than running them. */
function unknownNameWrites({ unknownNames, unknownCounters, droppedNames }: MergedReports): readonly TableWrite[] {
  if (unknownNames.length + droppedNames.length === 0) return [];
  return [
    {
      table: 'unknown_names',
      rows: unknownNames,
      columns: { application: 'text', flag: 'text', rank: 'bigint', count: 'bigint' },
      key: ['application', 'flag'],
      update: `rank = greatest(known.rank, excluded.rank), ${ADD_COUNT}`,
    },
    {
      table: 'unknown_counters',
      rows: unknownCounters,
      columns: { application: 'text', flag: 'text', second: 'bigint', yes: 'bigint', no: 'bigint' },
      key: ['application', 'flag', 'second'],
      update: ADD_YES_NO,
    },
    {
      table: 'dropped_names',
      rows: droppedNames.map(({ application, dropped }) => ({ application, count: dropped })),
      columns: { application: 'text', count: 'bigint' },
      key: ['application'],
      update: 'count = known.count + excluded.count',
    },
  ];
}

/** A table expression that writes rows once the expression `after` has run. */
function writeExpression(
  { table, rows, columns, key, isSharded, update }: TableWrite,
  { names, values, after }: WriteParts,
): string {
  const stored = Object.keys(columns).map(toColumn).join(', ');
  const order = key.map((member) => (columns[member] === 'text' ? `${member} COLLATE "C"` : member));
  return `${table} AS (
  INSERT INTO ${names.table(table)} AS known (${stored}${isSharded ? ', shard' : ''})
  SELECT ${stored}${isSharded ? `, ${SHARD}` : ''} FROM writing, ${unnest(values, rows, columns)}
  WHERE (SELECT count(*) FROM ${after}) >= 0 ORDER BY ${order.join(', ')}
  ON CONFLICT (${[...key, ...(isSharded ? ['shard'] : [])].join(', ')}) DO UPDATE SET ${update}
  RETURNING 1
)`;
}

/** Rows as an SQL table `given`, with one list parameter for each column. */
function unnest(values: unknown[], rows: readonly object[], columns: Columns): string {
  const lists = Object.entries(columns).map(([member, type]) => {
    const list = rows.map((row) => toStored((row as Record<string, unknown>)[member]));
    // The driver needs longer for a list of numbers than for its text.
    const length = values.push(type === 'bigint' ? `{${list.join(',')}}` : list);
    return `$${length}::${type}[]`;
  });
  return `unnest(${lists.join(', ')}) AS given (${Object.keys(columns).map(toColumn).join(', ')})`;
}

/** `seenAt` is stored as `seen_at`. */
function toColumn(member: string): string {
  return member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function toStored(value: unknown): unknown {
  return typeof value === 'string' ? toStoredText(value) : value;
}
