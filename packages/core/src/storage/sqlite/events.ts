import type { CommitTarget } from '../apply-commit.js';
import type { EventPage, EventQuery, StoredEvent } from '../port.js';
import { prepare, type SqliteDatabase } from './database.js';
import { type Condition, conditionsOf, toWhere, type Where, whereOf } from './event-conditions.js';
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
  data: string,
  before: string,
];

/** So many events are read and sorted without a thought. */
const FEW = 1_000;

const HEAD = 'type, at, actor, subject_kind, subject_id, revision, project, environment';
const COLUMNS = `${HEAD}, data, before`;

/** Synchronous; the caller sees to transactions. */
export function sqliteEvents(database: SqliteDatabase, prefix: string): SqliteEvents {
  const table = `${prefix}events`;
  const insert = prepare(database, `INSERT INTO ${table} (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const statements = statementsByText(database);

  return {
    append(events, revisions) {
      for (const { type, at, actor, subject, project, environment, data, before, write } of events) {
        const revision = revisions[write];
        insert.run(type, at, actor, subject.kind, subject.id, revision, project, environment, data, before);
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
      const page = `SELECT position, ${columns} FROM ${table} ${where} ${order} LIMIT ? OFFSET ?`;
      const rows = statements(page).all(...parameters, query.limit, query.offset ?? 0) as EventRow[];
      const events = Array.from(rows, toStoredEvent);
      if (!query.total) return { events };
      return { events, total: count(whereOf(conditions, { lead: lead ?? conditions[0], after: query.after })) };
    },
  };

  function count({ sql, parameters }: Where): number {
    const [total] = statements(`SELECT COUNT(*) FROM ${table} ${sql}`).get(...parameters) as readonly [number];
    return total;
  }

  /**
   * The condition whose index is to be read: one that few events meet, if there is any. SQLite knows nothing of how many
   * do, and would read half a million events of a project for the ten of an hour. Where all are met often, one whose
   * index gives the events in their order; none of a period of time alone, which is then read from the end.
   */
  function leadOf(conditions: readonly Condition[]): Condition | undefined {
    const [first] = conditions;
    if (conditions.length <= 1 && first?.index !== 'time') return first;
    return conditions.find(isMetByFew) ?? conditions.find(({ index }) => index !== 'time');
  }

  function isMetByFew({ terms }: Condition): boolean {
    const { sql, parameters } = toWhere(terms);
    const limited = `SELECT COUNT(*) FROM (SELECT 1 FROM ${table} ${sql} LIMIT ${FEW})`;
    const [met] = statements(limited).get(...parameters) as readonly [number];
    return met < FEW;
  }
}

function toStoredEvent(row: EventRow): StoredEvent {
  const [position, type, at, actor, subjectKind, subjectId, revision, project, environment, data, before] = row;
  return {
    id: position,
    position: String(position),
    type,
    at,
    actor,
    subject: { kind: subjectKind, id: subjectId },
    revision,
    project,
    environment,
    data: JSON.parse(data),
    before: JSON.parse(before),
  };
}
