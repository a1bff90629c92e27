import Database from 'better-sqlite3';
import type { RowWrite, SameRows } from './bare-write.js';

type Row = Readonly<Record<string, string | number | null>>;

/** Each change of the library under load meets its flag again after so many. */
const FLAGS = 1000;
const COUNTED = 5;

/** What one request has written: the newest event with its document, or the last report. */
export function writtenRows(from: string, kind: 'created' | 'changed' | 'reported'): Omit<SameRows, 'file'> {
  const database = new Database(from, { readonly: true });
  const rowOf = (sql: string, ...values: unknown[]) => database.prepare(sql).get(...values) as Row;
  const schema = database.prepare('SELECT sql FROM sqlite_master WHERE sql IS NOT NULL').all() as { sql: string }[];
  const tables = schema.map(({ sql }) => sql).filter((sql) => !sql.includes('sqlite_sequence'));
  const writes = kind === 'reported' ? reportWrites(rowOf) : changeWrites(rowOf);
  database.close();
  return { schema: tables, among: kind === 'created' ? Number.MAX_SAFE_INTEGER : FLAGS, writes };
}

function changeWrites(rowOf: (sql: string, ...values: unknown[]) => Row): readonly RowWrite[] {
  const { position: _, ...event } = rowOf('SELECT * FROM flags_events ORDER BY position DESC LIMIT 1');
  const document = rowOf(
    'SELECT * FROM flags_documents WHERE kind = ? AND id = ?',
    event.subject_kind ?? '',
    event.subject_id ?? '',
  );
  return [
    upsert('flags_documents', { ...document, id: 'flag-{n}' }, ['kind', 'id']),
    insert('flags_events', { ...event, subject_id: 'flag-{n}' }),
  ];
}

function reportWrites(rowOf: (sql: string) => Row): readonly RowWrite[] {
  const perFlag = Array.from({ length: COUNTED }, (_, at) => `flag-{n}-${at}`).flatMap((flag) => [
    upsert('flags_counters', { ...rowOf('SELECT * FROM flags_counters'), flag }, ['second', 'flag']),
    upsert('flags_last_seen', { ...rowOf('SELECT * FROM flags_last_seen'), flag }, ['flag']),
    upsert('flags_usage_now', { ...rowOf('SELECT * FROM flags_usage_now'), flag }, [
      'application',
      'flag',
      'environment',
    ]),
  ]);
  return [
    ...perFlag,
    upsert('flags_applications', rowOf('SELECT * FROM flags_applications'), ['name']),
    upsert('flags_instances', rowOf('SELECT * FROM flags_instances'), ['application', 'id']),
  ];
}

function insert(table: string, row: Row): RowWrite {
  const names = Object.keys(row);
  return {
    sql: `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
    values: Object.values(row),
  };
}

/** Numbers count on: SQLite writes nothing to disk where a row stays the same. */
function upsert(table: string, row: Row, keys: readonly string[]): RowWrite {
  const { sql, values } = insert(table, row);
  const updates = Object.entries(row)
    .filter(([name]) => !keys.includes(name))
    .map(([name, value]) => `${name} = ${typeof value === 'number' ? `${table}.${name} + 1` : `excluded.${name}`}`);
  return { sql: `${sql} ON CONFLICT (${keys.join(', ')}) DO UPDATE SET ${updates.join(', ')}`, values };
}
