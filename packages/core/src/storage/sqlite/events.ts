import { parsePosition } from '../commit.js';
import type { EventPage, StoredEvent, StoredEventQuery } from '../port.js';
import { type SqliteDatabase, type SqliteStatement, statementsByText } from './database.js';

/** The conditions of a filter that one index can answer. */
interface Condition {
  readonly index: 'changeSet' | 'subject' | 'type' | 'project' | 'time';
  readonly terms: readonly Term[];
}

type Term = readonly [column: string, operator: '=' | '>=' | '<=' | '>', value: unknown];

interface Where {
  /** A WHERE clause, or '' without conditions. */
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** Returns the conditions of a filter, the usually most selective one first. */
function conditionsOf({ filter = {} }: StoredEventQuery): readonly Condition[] {
  const { changeSet, subject, type, project, from, to } = filter;
  const conditions: readonly Condition[] = [
    { index: 'changeSet', terms: given(['change_id', '=', changeSet]) },
    { index: 'subject', terms: given(['subject_kind', '=', subject?.kind], ['subject_id', '=', subject?.id]) },
    { index: 'type', terms: given(['type', '=', type]) },
    { index: 'project', terms: given(['project', '=', project]) },
    { index: 'time', terms: given(['at', '>=', from], ['at', '<=', to]) },
  ];
  return conditions.filter(({ terms }) => terms.length > 0);
}

/** Builds the clause of all conditions. A unary plus keeps SQLite from using another index than that of `lead`. */
function whereOf(
  conditions: readonly Condition[],
  lead: Condition | undefined,
  { after, until }: StoredEventQuery,
): Where {
  const terms = conditions.flatMap((condition) =>
    condition === lead ? condition.terms : condition.terms.map(([column, ...rest]): Term => [`+${column}`, ...rest]),
  );
  return toWhere([...terms, ...given(['position', '>', numberOf(after)], ['position', '<=', numberOf(until)])]);
}

function numberOf(position: string | undefined): number | undefined {
  return position === undefined ? undefined : parsePosition(position);
}

function toWhere(terms: readonly Term[]): Where {
  const sql = terms.map(([column, operator]) => `${column} ${operator} ?`).join(' AND ');
  return { sql: sql === '' ? '' : `WHERE ${sql}`, parameters: terms.map(([, , value]) => value) };
}

function given(...terms: readonly Term[]): readonly Term[] {
  return terms.filter(([, , value]) => value !== undefined);
}

/** A condition that fewer events meet is selective: reading and sorting them takes a few milliseconds. */
const SELECTIVE = 1_000;

/**
 * Returns a function that chooses the condition whose index leads a query: the first selective one.
 *
 * SQLite has no statistics here, and a period may match ten events or all of them. On half a million events its own
 * choice reads a whole project for half an hour of it, and sorts every event of a long period: a hundred times slower.
 *
 * If no condition is selective, an index that returns events by position leads. A long period alone has none: SQLite then
 * reads the events from the end.
 */
function leadFinder(statements: (sql: string) => SqliteStatement, table: string) {
  function isSelective({ terms }: Condition): boolean {
    const { sql, parameters } = toWhere(terms);
    const limited = `SELECT COUNT(*) FROM (SELECT 1 FROM ${table} ${sql} LIMIT ${SELECTIVE})`;
    const [count] = statements(limited).get(...parameters) as readonly [number];
    return count < SELECTIVE;
  }

  return (conditions: readonly Condition[]): Condition | undefined => {
    const [first] = conditions;
    if (conditions.length <= 1 && first?.index !== 'time') return first;
    return conditions.find(isSelective) ?? conditions.find(({ index }) => index !== 'time');
  };
}

/** The position and {@link EVENT_COLUMNS}. */
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
  changeSet: string | null,
  reason: string | null,
  data: string,
  before: string,
];

type PositionRow = readonly [position: number];

const HEAD =
  'type, at, actor, subject_kind, subject_id, revision, project, environment, actor_token_id, actor_token_kind, change_id, reason';
/** The columns of an event, without its position. */
export const EVENT_COLUMNS = `${HEAD}, data, before`;

/** Returns a function that reads events. Synchronous: the caller runs the transactions. */
export function eventReader(database: SqliteDatabase, prefix: string): (query: StoredEventQuery) => EventPage {
  const table = `${prefix}events`;
  const statements = statementsByText(database);
  const leadOf = leadFinder(statements, table);

  return (query) => {
    const conditions = conditionsOf(query);
    const lead = leadOf(conditions);
    const { sql: where, parameters } = whereOf(conditions, lead, query);
    const direction = query.order === 'oldest-first' ? 'ASC' : 'DESC';
    const columns = query.withoutData ? `${HEAD}, 'null', 'null'` : EVENT_COLUMNS;
    // The plus makes SQLite read the index of times and sort, instead of reading all events by position.
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
    return { events, total: count(whereOf(conditions, lead ?? conditions[0], query)) };
  };

  /** Reads row by row, so that the data of events beyond the page is not read. */
  function readUpTo(maxBytes: number, positions: readonly PositionRow[]): readonly EventRow[] {
    const rows: EventRow[] = [];
    let bytes = 0;
    for (const [position] of positions) {
      const row = statements(`SELECT position, ${EVENT_COLUMNS} FROM ${table} WHERE position = ?`).get(
        position,
      ) as EventRow;
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
  const [actorTokenId, actorTokenKind, changeSet, reason, data, before] = rest;
  return {
    id: position,
    position: String(position),
    type,
    at,
    actor,
    ...(actorTokenId !== null && { actorTokenId }),
    ...(actorTokenKind !== null && { actorTokenKind }),
    changeSet,
    reason,
    subject: { kind: subjectKind, id: subjectId },
    revision,
    project,
    environment,
    data: JSON.parse(data),
    before: JSON.parse(before),
  };
}
