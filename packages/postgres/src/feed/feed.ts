import { FlagsError, isFlagsError } from '@flags/core';
import type { EventPage, StoredEvent, StoredEventQuery } from '@flags/core/storage';
import { delay } from '../connection/errors.js';
import type { Database, Statements } from '../database.js';
import { fromStoredText, type TableNames, toStoredText } from '../tables.js';
import { feedOffset, markOf, parsePosition, toPosition } from './position.js';

/** Milliseconds between two reads. Most commits that hold events back end within them. */
const PAUSES = [4, 8, 16];
/** Milliseconds. The longest time for which a read of the feed delays new commits, if a running commit does not end. */
const LOCK_TIMEOUT = 100;
/** Milliseconds without another attempt after the lock was not available. While a read waits for it, commits wait behind. */
const LOCK_PAUSE = 2_000;

export interface FeedOptions {
  readonly database: Database;
  readonly names: TableNames;
  /** SQL: the key of the advisory lock that every commit holds as shared. */
  readonly commitLock: string;
}

/**
 * Reads events in an order that never changes behind a reader: by transaction id. Transactions end in another order than
 * their ids, so a read returns only settled events: those below the oldest running transaction.
 *
 * Any writing transaction of the whole server holds events back. If one runs longer than commits take, the read takes the
 * lock of all commits exclusively. Then no commit is running, and all visible events are settled.
 */
export function createFeed({
  database,
  names,
  commitLock,
}: FeedOptions): (query: StoredEventQuery) => Promise<EventPage> {
  const read = createReadEvents(database, names);
  const settled = `pg_snapshot_xmin(pg_current_snapshot())::text::bigint + ${feedOffset(names)}`;
  // A transaction that was still open after all pauses. Later reads do not wait for it.
  let longTransaction: string | null | undefined;
  let nextLock = 0;

  const readSettled = (query: StoredEventQuery): Promise<EventsAndFacts> =>
    read(query, {
      only: `commit_order < ${settled}`,
      facts: (matching) => [
        `${settled} AS settled`,
        `(SELECT commit_order FROM (SELECT commit_order FROM ${matching}) AS held
          WHERE commit_order >= ${settled} ORDER BY commit_order DESC LIMIT 1) AS held`,
        'pg_snapshot_xmin(pg_current_snapshot()) AS oldest',
        'pg_is_in_recovery() AS standby',
      ],
    });

  /** Returns undefined if the lock is not available in time. */
  async function readLocked(query: StoredEventQuery): Promise<EventPage | undefined> {
    const first = `SET LOCAL lock_timeout = ${LOCK_TIMEOUT}; SELECT pg_advisory_xact_lock(${commitLock})`;
    try {
      return await database.transaction(async (statements) => (await createReadEvents(statements, names)(query)).page, {
        first,
      });
    } catch (error) {
      if (isFlagsError(error) && error.code === 'storage_busy') return undefined;
      throw error;
    }
  }

  async function readFeed(query: StoredEventQuery): Promise<EventPage> {
    let found = await readSettled(query);
    const { held } = found.facts;
    for (const time of PAUSES) {
      if (isComplete(found, { query, held })) return found.page;
      if (found.facts.oldest === longTransaction) break;
      await delay(time);
      found = await readSettled(query);
    }
    // Locks on a standby do not stop commits on the primary.
    if (isComplete(found, { query, held }) || found.facts.standby === 't') return found.page;
    longTransaction = found.facts.oldest;
    if (performance.now() < nextLock) return found.page;
    const page = await readLocked(query);
    if (page === undefined) nextLock = performance.now() + LOCK_PAUSE;
    return page ?? found.page;
  }

  return async (query) => {
    if (query.order === 'oldest-first' || query.settled) return readFeed(query);
    return (await read(query)).page;
  };
}

interface FirstRead {
  readonly query: StoredEventQuery;
  /** The position of the newest event that was held back at the first read. */
  readonly held: string | null | undefined;
}

/** Whether the page misses no event that was visible at the first read. Later events belong to later reads. */
function isComplete({ page, facts }: EventsAndFacts, { query: { order, limit }, held }: FirstRead): boolean {
  if (typeof held !== 'string' || BigInt(facts.settled ?? 0) > BigInt(held)) return true;
  return order === 'oldest-first' && page.total === undefined && page.events.length >= limit;
}

/** Reads events, and facts of the same snapshot, in one round trip. */
type ReadEvents = (query: StoredEventQuery, options?: ReadOptions) => Promise<EventsAndFacts>;

interface ReadOptions {
  /** SQL: a further condition on the events. */
  readonly only?: string;
  /** SQL: expressions with `AS` names. `matching` is a FROM and WHERE for all events of the query, without `only`. */
  readonly facts?: (matching: string) => readonly string[];
}

interface EventsAndFacts {
  readonly page: EventPage;
  readonly facts: Readonly<Record<string, string | null>>;
}

interface EventRow {
  readonly commit_order: string;
  readonly id: string;
  readonly type: string;
  readonly at: string;
  readonly actor: string;
  readonly subject_kind: string;
  readonly subject_id: string;
  readonly revision: string;
  readonly project: string | null;
  readonly environment: string | null;
  readonly actor_token_id: string | null;
  readonly actor_token_kind: string | null;
  readonly change_id: string;
  readonly reason: string | null;
  readonly origin: string | null;
  readonly data: string;
  readonly before: string;
}

const HEAD =
  'commit_order, id, type, at, actor, subject_kind, subject_id, revision, project, environment, actor_token_id, actor_token_kind, change_id, reason, origin';
const WHOLE = `${HEAD}, data, before`;
/** JSON texts that the caller ignores. */
const WITHOUT_DATA = `${HEAD}, 'null' AS data, 'null' AS before`;

function createReadEvents(statements: Statements, names: TableNames): ReadEvents {
  const table = names.table('events');

  return async (query, { only, facts = () => [] } = {}) => {
    const { conditions, values } = toConditions(query);
    const matching = fromWhere(table, conditions);
    const wanted = fromWhere(table, only === undefined ? conditions : [...conditions, only]);
    const start = query.order === 'oldest-first' ? query.after : undefined;
    const asked = [
      ...facts(matching),
      ...(start === undefined ? [] : startFacts(table)),
      ...(query.total ? [`(SELECT count(*) FROM ${wanted}) AS total`] : []),
    ];
    const direction = query.order === 'oldest-first' ? 'ASC' : 'DESC';
    const order = `ORDER BY commit_order ${direction}, id ${direction}`;
    const columns = query.withoutData ? WITHOUT_DATA : WHOLE;
    const limited = `SELECT ${columns} FROM ${wanted} ${order} LIMIT $${values.length + 1} OFFSET $${values.length + 2}`;
    const isBounded = query.maxBytes !== undefined && !query.withoutData;
    const page = isBounded ? upTo(`$${values.length + 3}::bigint`, { limited, order }) : limited;
    const rows = await statements.query<EventRow & EventsAndFacts['facts']>(
      `SELECT * FROM (SELECT ${asked.join(', ')}) AS facts LEFT JOIN (${page}) AS page ON true ${order}`,
      [...values, query.limit, query.offset ?? 0, ...(isBounded ? [query.maxBytes] : [])],
    );
    const events = rows.filter(({ id }) => id !== null).map(toStoredEvent);
    const [first = {} as EventsAndFacts['facts']] = rows;
    if (start !== undefined) assertStart(start, first);
    return { facts: first, page: query.total ? { events, total: Number(first.total) } : { events } };
  };
}

/** SQL: facts about the event that a feed starts after, whose position is the first two parameters. */
function startFacts(table: string): readonly string[] {
  const start = `SELECT change_id FROM ${table} WHERE commit_order = $1::bigint AND id = $2::bigint`;
  return [`(${start}) AS start_set`, 'pg_is_in_recovery() AS start_standby'];
}

/** Fails if the storage does not have the event that the feed starts after. */
function assertStart(start: string, { start_set: changeSet = null, start_standby }: EventsAndFacts['facts']): void {
  const { mark } = parsePosition(start);
  if (changeSet !== null && mark === markOf(fromStoredText(changeSet))) return;
  if (start_standby === 't') {
    throw new FlagsError('storage_unavailable', 'The server is a standby that has not received the last changes yet.');
  }
  throw new FlagsError(
    'history_lost',
    `The database has no event at the position ${start}. A server has taken over that lacks changes, or a backup was restored: ` +
      'read the state again, and start at the newest position.',
  );
}

/** Cuts a page at `maxBytes`. PostgreSQL knows the length of a text without reading it. */
function upTo(maxBytes: string, { limited, order }: { readonly limited: string; readonly order: string }): string {
  const size = 'octet_length(data) + octet_length(before)';
  const sized = `SELECT *, ${size} AS size, sum(${size}) OVER (${order} ROWS UNBOUNDED PRECEDING) AS bytes FROM (${limited}) AS found`;
  return `SELECT ${WHOLE} FROM (${sized}) AS sized WHERE bytes <= ${maxBytes} OR bytes = size`;
}

function fromWhere(table: string, conditions: readonly string[]): string {
  return conditions.length > 0 ? `${table} WHERE ${conditions.join(' AND ')}` : table;
}

function toConditions({ after, until, filter = {} }: StoredEventQuery): {
  readonly conditions: readonly string[];
  readonly values: readonly string[];
} {
  const { project, subject, type, changeSet, from, to } = filter;
  const columns: readonly (readonly [string, string | undefined])[] = [
    ['project =', project],
    ['subject_kind =', subject?.kind],
    ['subject_id =', subject?.id],
    ['type =', type],
    ['change_id =', changeSet],
    ['at >=', from],
    ['at <=', to],
  ];
  const given = columns.filter((column): column is readonly [string, string] => column[1] !== undefined);
  const bounds = [
    { operator: '>', position: after },
    { operator: '<=', position: until },
  ].flatMap(({ operator, position }) => (position === undefined ? [] : [{ operator, ...parsePosition(position) }]));
  const first = 2 * bounds.length + 1;
  return {
    conditions: [
      ...bounds.map(
        ({ operator }, index) =>
          `(commit_order, id) ${operator} ($${2 * index + 1}::bigint, $${2 * index + 2}::bigint)`,
      ),
      ...given.map(([comparison], index) => `${comparison} $${first + index}`),
    ],
    values: [
      ...bounds.flatMap(({ commitOrder, id }) => [commitOrder, id]),
      ...given.map(([, value]) => toStoredText(value)),
    ],
  };
}

function toStoredEvent(row: EventRow): StoredEvent {
  const changeSet = fromStoredText(row.change_id);
  return {
    id: Number(row.id),
    position: toPosition({ commitOrder: row.commit_order, id: row.id, mark: markOf(changeSet) }),
    type: fromStoredText(row.type),
    at: fromStoredText(row.at),
    actor: fromStoredText(row.actor),
    ...(row.actor_token_id !== null && { actorTokenId: fromStoredText(row.actor_token_id) }),
    ...(row.actor_token_kind !== null && { actorTokenKind: fromStoredText(row.actor_token_kind) }),
    changeSet,
    reason: row.reason === null ? null : fromStoredText(row.reason),
    ...(row.origin !== null && { origin: fromStoredText(row.origin) }),
    subject: { kind: fromStoredText(row.subject_kind), id: fromStoredText(row.subject_id) },
    revision: Number(row.revision),
    project: row.project === null ? null : fromStoredText(row.project),
    environment: row.environment === null ? null : fromStoredText(row.environment),
    data: JSON.parse(row.data),
    before: JSON.parse(row.before),
  };
}
