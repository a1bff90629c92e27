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
  /** By the tables and columns that a statement writes: there are few forms, and making a text takes long. */
  const texts = new Map<string, string>();

  function textOf(applications: Rows, writes: readonly TableWrite[]): string {
    const given = parametersFrom(4);
    const isRegistration = 'strategies' in applications.columns;
    const expressions = [
      lock.shared,
      `writing AS (
  INSERT INTO ${names.table('metrics_writes')} (id, at) SELECT $1::uuid, $2::bigint FROM metrics_lock
  ON CONFLICT (id) DO NOTHING RETURNING 1
)`,
      (isRegistration ? registeredApplications : seenApplications)(names, given(applications.columns)),
    ];
    let after = 'applications';
    for (const write of writes) {
      expressions.push(writeExpression(write, { names, given: given(write.columns), after }));
      after = write.table;
    }
    return `WITH ${expressions.join(',\n')}\n${bumpVersionShard(names, [after])}`;
  }

  return ({ id, at, shard, merged, registered }) => {
    const applications = applicationRows(merged, registered);
    const writes = [...flagWrites(merged, names), ...unknownNameWrites(merged)];
    const all = [applications, ...writes];
    const form = all.map(({ columns }) => Object.keys(columns)).join(' ');
    const text = texts.get(form) ?? textOf(applications, writes);
    texts.set(form, text);
    return { text, values: [id, at, shard, ...all.flatMap(listsOf)] };
  };
}

/** Rows and the members that are stored, with the types of their columns. */
interface Rows {
  readonly rows: readonly object[];
  readonly columns: Columns;
}

const SEEN_COLUMNS = { name: 'text', createdAt: 'bigint', token: 'text', isPublic: 'boolean' } as const;

function applicationRows({ applications }: MergedReports, registered: readonly RegisteredApplication[]): Rows {
  if (registered.length === 0) return { rows: applications, columns: SEEN_COLUMNS };
  return {
    rows: applications.map((application, index) => ({ ...application, ...registered[index] })),
    columns: {
      ...SEEN_COLUMNS,
      ...{ strategies: 'text', description: 'text' },
      ...{ url: 'text', color: 'text', hasColor: 'boolean', icon: 'text' },
    },
  };
}

/** Leaves known applications alone, because all nodes write them. */
function seenApplications(names: TableNames, given: string): string {
  return `applications AS (
  INSERT INTO ${names.table('applications')} (name, strategies, description, url, icon, created_at, token, is_public)
  SELECT name, '[]', '', '', '', created_at, token, is_public FROM writing, ${given} ORDER BY name COLLATE "C"
  ON CONFLICT (name) DO NOTHING RETURNING 1
)`;
}

/** Renews the applications that registered. One pass over all names, those of reports among them, keeps the key order. */
function registeredApplications(names: TableNames, given: string): string {
  return `registered AS (SELECT * FROM ${given}),
applications AS (
  INSERT INTO ${names.table('applications')} AS known (
    name, strategies, description, url, color, icon, created_at, token, is_public)
  SELECT name, coalesce(strategies, '[]'), coalesce(description, ''), coalesce(url, ''), color, coalesce(icon, ''),
    created_at, token, is_public
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
interface TableWrite extends Rows {
  readonly table: string;
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
  { table, columns, key, isSharded, update }: TableWrite,
  { names, given, after }: { readonly names: TableNames; readonly given: string; readonly after: string },
): string {
  const stored = Object.keys(columns).map(toColumn).join(', ');
  const order = key.map((member) => (columns[member] === 'text' ? `${member} COLLATE "C"` : member));
  return `${table} AS (
  INSERT INTO ${names.table(table)} AS known (${stored}${isSharded ? ', shard' : ''})
  SELECT ${stored}${isSharded ? `, ${SHARD}` : ''} FROM writing, ${given}
  WHERE (SELECT count(*) FROM ${after}) >= 0 ORDER BY ${order.join(', ')}
  ON CONFLICT (${[...key, ...(isSharded ? ['shard'] : [])].join(', ')}) DO UPDATE SET ${update}
  RETURNING 1
)`;
}

/** Returns a function that numbers the parameters of the next rows. It returns the rows as an SQL table `given`. */
function parametersFrom(first: number): (columns: Columns) => string {
  let next = first;
  return (columns) => {
    const lists = Object.values(columns).map((type) => `$${next++}::${type}[]`);
    return `unnest(${lists.join(', ')}) AS given (${Object.keys(columns).map(toColumn).join(', ')})`;
  };
}

/** Returns the parameters of rows: one list for each column. */
function listsOf({ rows, columns }: Rows): readonly unknown[] {
  return Object.entries(columns).map(([member, type]) => {
    const list = rows.map((row) => toStored((row as Record<string, unknown>)[member]));
    // The driver needs longer for a list of numbers than for its text.
    return type === 'bigint' ? `{${list.join(',')}}` : list;
  });
}

/** `seenAt` is stored as `seen_at`. */
function toColumn(member: string): string {
  return member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function toStored(value: unknown): unknown {
  return typeof value === 'string' ? toStoredText(value) : value;
}
