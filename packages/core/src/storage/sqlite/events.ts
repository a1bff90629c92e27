import type { CommitTarget } from '../commit.js';
import { parsePosition } from '../event-position.js';
import type { EventPage, StoredEvent, StoredEventQuery } from '../port.js';
import { prepare, type SqliteDatabase, type SqliteStatement, statementsByText } from './database.js';

/** Conditions that one index answers. */
export interface Condition {
  readonly index: 'subject' | 'type' | 'project' | 'time';
  /** Column, operator and value of each. */
  readonly terms: readonly Term[];
}

type Term = readonly [column: string, operator: '=' | '>=' | '<=' | '>', value: unknown];

/** A WHERE clause, or none, and its values. */
export interface Where {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** What a filter asks for, the most selective by nature first. */
export function conditionsOf({ filter = {} }: StoredEventQuery): readonly Condition[] {
  const { subject, type, project, from, to } = filter;
  const conditions: readonly Condition[] = [
    { index: 'subject', terms: given(['subject_kind', '=', subject?.kind], ['subject_id', '=', subject?.id]) },
    { index: 'type', terms: given(['type', '=', type]) },
    { index: 'project', terms: given(['project', '=', project]) },
    { index: 'time', terms: given(['at', '>=', from], ['at', '<=', to]) },
  ];
  return conditions.filter(({ terms }) => terms.length > 0);
}

/** All conditions, written so that SQLite can use no index of theirs but the leading one's. */
export function whereOf(
  conditions: readonly Condition[],
  { lead, after }: { readonly lead: Condition | undefined; readonly after: string | undefined },
): Where {
  const terms = conditions.flatMap((condition) => {
    return condition === lead ? condition.terms : condition.terms.map(withoutIndex);
  });
  return toWhere([...terms, ...given(['position', '>', after === undefined ? undefined : parsePosition(after)])]);
}

export function toWhere(terms: readonly Term[]): Where {
  const sql = terms.map(([column, operator]) => `${column} ${operator} ?`).join(' AND ');
  return { sql: sql === '' ? '' : `WHERE ${sql}`, parameters: terms.map(([, , value]) => value) };
}

function given(...terms: readonly Term[]): readonly Term[] {
  return terms.filter(([, , value]) => value !== undefined);
}

/** A unary plus keeps the planner from looking for an index. */
function withoutIndex([column, operator, value]: Term): Term {
  return [`+${column}`, operator, value];
}

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

export type SqliteEvents = CommitTarget['events'] & {
  query(query: StoredEventQuery): EventPage;
};

/** {@link COLUMNS}, after the position. */
type EventRow = readonly [
  position: number,
  type: string,
  at: string,
  actor: string,
  subjectKind: string,
  subjectId: string,
  revision: number,
  project: string | null,
  environment: string | null,
  actorTokenId: string | null,
  actorTokenKind: string | null,
  data: string,
  before: string,
];

type PositionRow = readonly [position: number];

const HEAD =
  'type, at, actor, subject_kind, subject_id, revision, project, environment, actor_token_id, actor_token_kind';
const COLUMNS = `${HEAD}, data, before`;

/** Synchronous; the caller sees to transactions. */
export function sqliteEvents(database: SqliteDatabase, prefix: string): SqliteEvents {
  const table = `${prefix}events`;
  const insert = prepare(database, `INSERT INTO ${table} (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const statements = statementsByText(database);
  const leadOf = leadFinder(statements, table);

  return {
    append(events, revisions) {
      for (const { type, at, actor, subject, project, environment, data, before, write, ...token } of events) {
        const { actorTokenId = null, actorTokenKind = null } = token;
        const subjectValues = [subject.kind, subject.id, revisions[write]];
        insert.run(type, at, actor, ...subjectValues, project, environment, actorTokenId, actorTokenKind, data, before);
      }
    },
    query(query) {
      const conditions = conditionsOf(query);
      const lead = leadOf(conditions);
      const { sql: where, parameters } = whereOf(conditions, { lead, after: query.after });
      const direction = query.order === 'oldest-first' ? 'ASC' : 'DESC';
      const columns = query.withoutData ? `${HEAD}, 'null', 'null'` : COLUMNS;
      // Sorted where the index of times is to be read: SQLite would rather walk all events in their order.
      const order = `ORDER BY ${lead?.index === 'time' ? '+' : ''}position ${direction}`;
      const bounds = [...parameters, query.limit, query.offset ?? 0];
      const select = (list: string) =>
        statements(`SELECT ${list} FROM ${table} ${where} ${order} LIMIT ? OFFSET ?`).all(...bounds);
      const isBounded = query.maxBytes !== undefined && !query.withoutData;
      const rows = isBounded
        ? readUpTo(query.maxBytes, select('position') as PositionRow[])
        : (select(`position, ${columns}`) as EventRow[]);
      const events = Array.from(rows, toStoredEvent);
      if (!query.total) return { events };
      return { events, total: count(whereOf(conditions, { lead: lead ?? conditions[0], after: query.after })) };
    },
  };

  /** One by one: the data of the others is not read. */
  function readUpTo(maxBytes: number, positions: readonly PositionRow[]): readonly EventRow[] {
    const rows: EventRow[] = [];
    let bytes = 0;
    for (const [position] of positions) {
      const row = statements(`SELECT position, ${COLUMNS} FROM ${table} WHERE position = ?`).get(position) as EventRow;
      const [data, before] = row.slice(-2) as [string, string];
      bytes += Buffer.byteLength(data) + Buffer.byteLength(before);
      if (bytes > maxBytes && rows.length > 0) break;
      rows.push(row);
    }
    return rows;
  }

  function count({ sql, parameters }: Where): number {
    const [total] = statements(`SELECT COUNT(*) FROM ${table} ${sql}`).get(...parameters) as readonly [number];
    return total;
  }
}

function toStoredEvent(row: EventRow): StoredEvent {
  const [position, type, at, actor, subjectKind, subjectId, revision, project, environment, ...rest] = row;
  const [actorTokenId, actorTokenKind, data, before] = rest;
  return {
    id: position,
    position: String(position),
    type,
    at,
    actor,
    ...(actorTokenId !== null && { actorTokenId }),
    ...(actorTokenKind !== null && { actorTokenKind }),
    subject: { kind: subjectKind, id: subjectId },
    revision,
    project,
    environment,
    data: JSON.parse(data),
    before: JSON.parse(before),
  };
}
