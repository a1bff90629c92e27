import { type CommitTarget, parsePosition } from '../commit.js';
import type {
  DocumentKey,
  EventPage,
  ListedDocument,
  ListQuery,
  StoredDocument,
  StoredEvent,
  StoredEventQuery,
} from '../port.js';
import { prepare, preparePluck, prepareRaw, type SqliteDatabase, statementsByText } from './database.js';

type SqliteDocuments = CommitTarget['documents'] & {
  get(key: DocumentKey): StoredDocument | undefined;
  list(query: ListQuery): ListedDocument[];
};

type DocumentRow = readonly [parent: string | null, revision: number, body: string];
type ListedRow = readonly [id: string, parent: string | null, revision: number, content: string];

/** Synchronous. The caller runs the transactions. */
export function sqliteDocuments(database: SqliteDatabase, prefix: string): SqliteDocuments {
  const table = `${prefix}documents`;
  const statements = prepareStatements(database, table);
  const listStatement = statementsByText(database);

  return {
    get({ kind, id }) {
      const row = statements.get.get(kind, id) as DocumentRow | undefined;
      if (!row) return undefined;
      return { key: { kind, id }, parent: row[0], revision: row[1], body: JSON.parse(row[2]) };
    },
    list(query) {
      const { sql, parameters } = toListing(query, table);
      const rows = listStatement(sql).all(...parameters) as ListedRow[];
      return Array.from(rows, (row) => toListedDocument(query.kind, row));
    },
    revision({ kind, id }) {
      return (statements.revision.get(kind, id) as number | undefined) ?? 0;
    },
    firstIds({ kind, parent }, limit) {
      return Array.from(statements.firstIds.all(kind, parent, limit) as string[]);
    },
    write({ key: { kind, id }, parent, content }) {
      if (content === 'unchanged') return statements.touch.get(kind, id) as number;
      const { summary, body } = content ?? { summary: null, body: null };
      const revision = statements.rewrite.get(summary, body, kind, id, parent);
      return (revision ?? statements.write.get(kind, id, parent, summary, body)) as number;
    },
  };
}

function prepareStatements(database: SqliteDatabase, table: string) {
  const existing = `FROM ${table} WHERE kind = ? AND id = ? AND body IS NOT NULL`;
  return {
    get: prepareRaw(database, `SELECT parent, revision, body ${existing}`),
    revision: preparePluck(database, `SELECT revision ${existing}`),
    firstIds: preparePluck(database, `SELECT id FROM ${table} WHERE kind = ? AND parent = ? ORDER BY id LIMIT ?`),
    // Does not set the parent, so that SQLite does not write the index of parents.
    rewrite: preparePluck(
      database,
      `UPDATE ${table} SET revision = revision + 1, summary = ?, body = ? WHERE kind = ? AND id = ? AND parent IS ?
      RETURNING revision`,
    ),
    touch: preparePluck(
      database,
      `UPDATE ${table} SET revision = revision + 1 WHERE kind = ? AND id = ? RETURNING revision`,
    ),
    write: preparePluck(
      database,
      `INSERT INTO ${table} (kind, id, parent, revision, summary, body) VALUES (?, ?, ?, 1, ?, ?)
      ON CONFLICT (kind, id) DO UPDATE SET
        parent = excluded.parent, revision = revision + 1, summary = excluded.summary, body = excluded.body
      RETURNING revision`,
    ),
  };
}

/** Deleted documents have neither body nor parent, so every document with a parent exists. */
function toListing({ kind, parent, part, after, limit }: ListQuery, table: string) {
  const under = parent === undefined ? 'body IS NOT NULL' : 'parent = ?';
  const from = after === undefined ? '' : ' AND id > ?';
  const end = limit === undefined ? '' : ' LIMIT ?';
  return {
    sql: `SELECT id, parent, revision, ${part} AS content FROM ${table} WHERE kind = ? AND ${under}${from} ORDER BY id${end}`,
    parameters: [kind, parent, after, limit].filter((parameter) => parameter !== undefined),
  };
}

function toListedDocument(kind: string, [id, parent, revision, content]: ListedRow): ListedDocument {
  return { key: { kind, id }, parent, revision, content: JSON.parse(content) };
}

const HEAD =
  'type, at, actor, subject_kind, subject_id, revision, project, environment, actor_token_id, actor_token_kind, change_id, reason';
/** The columns of an event, without its position. */
const EVENT_COLUMNS = `${HEAD}, data, before`;

/** Returns the part of a commit's target that appends events. Synchronous. The caller runs the transactions. */
export function eventAppender(database: SqliteDatabase, prefix: string): CommitTarget['events'] {
  const insert = prepare(
    database,
    `INSERT INTO ${prefix}events (${EVENT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return {
    append(events, revisions) {
      for (const event of events) {
        const { type, at, actor, subject, project, environment, changeSet, reason, data, before, write } = event;
        const { actorTokenId, actorTokenKind } = event;
        insert.run(
          type,
          at,
          actor,
          subject.kind,
          subject.id,
          revisions[write],
          project,
          environment,
          actorTokenId,
          actorTokenKind,
          changeSet,
          reason,
          data,
          before,
        );
      }
    },
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

/** Reading all events of a project with fewer events than this takes a few milliseconds. */
const RARE = 1_000;

/**
 * Returns a function that reads events. Synchronous: the caller runs the transactions.
 *
 * One condition uses its index, which returns events by position; the others filter. A unary plus keeps SQLite, which
 * has no statistics, from choosing another index. A period is first converted to a range of positions: with an index by
 * time, SQLite would sort all events of the period.
 */
export function eventReader(database: SqliteDatabase, prefix: string): (query: StoredEventQuery) => EventPage {
  const table = `${prefix}events`;
  const statements = statementsByText(database);

  return (query) => {
    const { order, limit, offset = 0, maxBytes, withoutData, total } = query;
    const { where, parameters } = conditionsOf(query);
    const direction = order === 'oldest-first' ? 'ASC' : 'DESC';
    const select = (columns: string) =>
      statements(`SELECT ${columns} FROM ${table} ${where} ORDER BY position ${direction} LIMIT ? OFFSET ?`);
    const page = [...parameters, limit, offset];
    const rows =
      maxBytes === undefined || withoutData
        ? select(withoutData ? `position, ${HEAD}, 'null', 'null'` : `position, ${EVENT_COLUMNS}`).all(...page)
        : readUpTo(maxBytes, select('position').all(...page) as [number][]);
    const events = Array.from(rows as EventRow[], toStoredEvent);
    if (!total) return { events };
    const [count] = statements(`SELECT COUNT(*) FROM ${table} ${where}`).get(...parameters) as [number];
    return { events, total: count };
  };

  /** Builds the WHERE clause. The first condition uses its index. */
  function conditionsOf({ filter = {}, after, until }: StoredEventQuery) {
    const { changeSet, subject, type, project, from, to } = filter;
    const isPeriod = from !== undefined || to !== undefined;
    const [first, last] = isPeriod ? positionsOf(from, to) : [undefined, undefined];
    const byType = definedConditions(['type = ?', type]);
    const byProject = definedConditions(['project = ?', project]);
    const [leading = [], ...others] = [
      definedConditions(['change_id = ?', changeSet]),
      definedConditions(['subject_kind = ?', subject?.kind], ['subject_id = ?', subject?.id]),
      ...(type !== undefined && isRare(project) ? [byProject, byType] : [byType, byProject]),
    ].filter((terms) => terms.length > 0);
    const filtering = [...others.flat(), ...definedConditions(['at >= ?', from], ['at <= ?', to])];
    const terms = [
      ...leading,
      ...definedConditions(
        ['position > ?', after === undefined ? undefined : parsePosition(after)],
        ['position <= ?', until === undefined ? undefined : parsePosition(until)],
        ['position >= ?', first],
        ['position <= ?', last],
      ),
      ...filtering.map(([condition, value]): Term => [`+${condition}`, value]),
    ];
    return {
      where: terms.length === 0 ? '' : `WHERE ${terms.map(([condition]) => condition).join(' AND ')}`,
      parameters: terms.map(([, value]) => value),
    };
  }

  function isRare(project: string | undefined): boolean {
    if (project === undefined) return false;
    const limited = `SELECT COUNT(*) FROM (SELECT 1 FROM ${table} WHERE project = ? LIMIT ${RARE})`;
    const [count] = statements(limited).get(project) as [number];
    return count < RARE;
  }

  /** Returns the first and the last position of a period; an empty range if it has no events. */
  function positionsOf(from = '', to = LAST_TIME): readonly [number, number] {
    const range = statements(`SELECT MIN(position), MAX(position) FROM ${table} WHERE at >= ? AND at <= ?`);
    const [first, last] = range.get(from, to) as [number | null, number | null];
    return [first ?? 0, last ?? -1];
  }

  /** Reads row by row, so that the data of events beyond the page is not read. */
  function readUpTo(maxBytes: number, positions: readonly [number][]): readonly EventRow[] {
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
}

type Term = readonly [condition: string, value: unknown];

function definedConditions(...terms: readonly Term[]): readonly Term[] {
  return terms.filter(([, value]) => value !== undefined);
}

/** After every time: times begin with a digit. */
const LAST_TIME = 'Z';

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
