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

/** Reads, lists and writes the documents in a SQLite database. Synchronous: the caller runs the transactions. */
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
      const { kind } = query;
      return Array.from(rows, ([id, parent, revision, content]) => {
        return { key: { kind, id }, parent, revision, content: JSON.parse(content) };
      });
    },
    revision({ kind, id }) {
      return (statements.revision.get(kind, id) as number | undefined) ?? 0;
    },
    firstIds({ kind, parent }, limit) {
      return Array.from(statements.firstIds.all(kind, parent, limit) as string[]);
    },
    write({ key: { kind, id }, expected, parent, content }) {
      if (content === 'unchanged') return statements.touch.get(kind, id) as number;
      const { summary, body } = content ?? { summary: null, body: null };
      // A document that exists has the expected revision. One that was deleted continues its revisions.
      const isRewritten = expected > 0 && statements.rewrite.run(summary, body, kind, id, parent).changes > 0;
      if (isRewritten) return expected + 1;
      return statements.write.get(kind, id, parent, summary, body) as number;
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
    rewrite: prepare(
      database,
      `UPDATE ${table} SET revision = revision + 1, summary = ?, body = ? WHERE kind = ? AND id = ? AND parent IS ?`,
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

/** Returns the part of a commit's target that appends events. Synchronous. The caller runs the transactions. */
export function eventAppender(database: SqliteDatabase, prefix: string): CommitTarget['events'] {
  // The parameters are bound by place: binding them by name takes twice as long.
  const insert = prepare(
    database,
    `INSERT INTO ${prefix}events (type, at, actor, subject_kind, subject_id, revision, project, environment,
      actor_token_id, actor_token_kind, change_id, reason, origin, data, before)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return {
    append(events, revisions) {
      for (const event of events) {
        insert.run(
          event.type,
          event.at,
          event.actor,
          event.subject.kind,
          event.subject.id,
          revisions[event.write],
          event.project,
          event.environment,
          event.actorTokenId,
          event.actorTokenKind,
          event.changeSet,
          event.reason,
          event.origin,
          event.data,
          event.before,
        );
      }
    },
  };
}

const HEAD = `position, type, at, actor, subject_kind AS kind, subject_id AS id, revision, project, environment,
  actor_token_id AS actorTokenId, actor_token_kind AS actorTokenKind, change_id AS changeSet, reason, origin`;
const WHOLE = `${HEAD}, data, before`;

type EventRow = Pick<
  StoredEvent,
  'type' | 'at' | 'actor' | 'revision' | 'project' | 'environment' | 'changeSet' | 'reason'
> & {
  readonly position: number;
  readonly kind: string;
  readonly id: string;
  readonly actorTokenId: string | null;
  readonly actorTokenKind: string | null;
  readonly origin: string | null;
  readonly data: string;
  readonly before: string;
};

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
  const statements = statementsByText(database, prepare);

  return (query) => {
    const { order, limit, offset = 0, maxBytes, withoutData, total } = query;
    const { where, parameters } = conditionsOf(query);
    const direction = order === 'oldest-first' ? 'ASC' : 'DESC';
    const select = (columns: string) =>
      statements(`SELECT ${columns} FROM ${table} ${where} ORDER BY position ${direction} LIMIT ? OFFSET ?`);
    const page = [...parameters, limit, offset];
    const rows =
      maxBytes === undefined || withoutData
        ? select(withoutData ? `${HEAD}, 'null' AS data, 'null' AS before` : WHOLE).all(...page)
        : readUpTo(maxBytes, select('position').all(...page) as Pick<EventRow, 'position'>[]);
    const events = Array.from(rows as EventRow[], toStoredEvent);
    if (!total) return { events };
    const counted = statements(`SELECT COUNT(*) AS total FROM ${table} ${where}`).get(...parameters);
    return { events, total: (counted as { total: number }).total };
  };

  /** Builds the WHERE clause. The first condition uses its index. */
  function conditionsOf({ filter = {}, after, until }: StoredEventQuery) {
    const { changeSet, subject, type, project, from, to } = filter;
    const isPeriod = from !== undefined || to !== undefined;
    const range = isPeriod ? positionsOf(from, to) : undefined;
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
        ['position >= ?', range?.first],
        ['position <= ?', range?.last],
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
    const nth = `SELECT 1 FROM ${table} WHERE project = ? LIMIT 1 OFFSET ${RARE - 1}`;
    return statements(nth).get(project) === undefined;
  }

  /** Returns the first and the last position of a period; an empty range if it has no events. */
  function positionsOf(from = '', to = LAST_TIME): { readonly first: number; readonly last: number } {
    const range = `SELECT ifnull(MIN(position), 0) AS first, ifnull(MAX(position), -1) AS last FROM ${table}
      WHERE at >= ? AND at <= ?`;
    return statements(range).get(from, to) as { first: number; last: number };
  }

  /** Reads row by row, so that the data of events beyond the page is not read. */
  function readUpTo(maxBytes: number, positions: readonly Pick<EventRow, 'position'>[]): readonly EventRow[] {
    const read = statements(`SELECT ${WHOLE} FROM ${table} WHERE position = ?`);
    const rows: EventRow[] = [];
    let bytes = 0;
    for (const { position } of positions) {
      const row = read.get(position) as EventRow;
      bytes += Buffer.byteLength(row.data) + Buffer.byteLength(row.before);
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

/** Names each member: a spread would take many times as long. */
function toStoredEvent(row: EventRow): StoredEvent {
  const { actorTokenId, actorTokenKind, origin } = row;
  return {
    id: row.position,
    type: row.type,
    at: row.at,
    actor: row.actor,
    changeSet: row.changeSet,
    reason: row.reason,
    position: String(row.position),
    subject: { kind: row.kind, id: row.id },
    revision: row.revision,
    project: row.project,
    environment: row.environment,
    ...(actorTokenId !== null && { actorTokenId }),
    ...(actorTokenKind !== null && { actorTokenKind }),
    ...(origin !== null && { origin }),
    data: JSON.parse(row.data),
    before: JSON.parse(row.before),
  };
}
