import type { CommitTarget } from '../apply-commit.js';
import { parsePosition } from '../event-position.js';
import type { EventPage, EventQuery, StoredEvent } from '../port.js';
import { prepare, type SqliteDatabase } from './database.js';
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
      const { where, parameters } = toCondition(query);
      const direction = query.order === 'oldest-first' ? 'ASC' : 'DESC';
      const columns = query.withoutData ? `${HEAD}, 'null', 'null'` : COLUMNS;
      const page = `SELECT position, ${columns} FROM ${table} ${where} ORDER BY position ${direction} LIMIT ? OFFSET ?`;
      const rows = statements(page).all(...parameters, query.limit, query.offset ?? 0) as EventRow[];
      const events = Array.from(rows, toStoredEvent);
      if (!query.total) return { events };
      const [total] = statements(`SELECT COUNT(*) FROM ${table} ${where}`).get(...parameters) as readonly [number];
      return { events, total };
    },
  };
}

function toCondition({ after, filter = {} }: EventQuery): { where: string; parameters: readonly unknown[] } {
  const conditions = [
    ['position > ?', after === undefined ? undefined : parsePosition(after)],
    ['project = ?', filter.project],
    ['subject_kind = ?', filter.subject?.kind],
    ['subject_id = ?', filter.subject?.id],
    ['type = ?', filter.type],
    ['at >= ?', filter.from],
    ['at <= ?', filter.to],
  ].filter(([, parameter]) => parameter !== undefined);
  const where = conditions.length > 0 ? `WHERE ${conditions.map(([sql]) => sql).join(' AND ')}` : '';
  return { where, parameters: conditions.map(([, parameter]) => parameter) };
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
