import type { CommitTarget } from '../apply-commit.js';
import type { EventPage, EventQuery, StoredEvent } from '../port.js';
import { prepare, type SqliteDatabase } from './database.js';
import { conditionsOf, type Where, whereOf } from './event-conditions.js';
import { leadFinder } from './event-lead.js';
import { statementsByText } from './statements.js';

export type SqliteEvents = CommitTarget['events'] & {
  query(query: EventQuery): EventPage;
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
