import type { EventPage, StoredEvent, StoredEventQuery } from '@flags/core';
import type { Statements } from '../database.js';
import { fromStoredText, type TableNames, toStoredText } from '../tables.js';
import { parsePosition, toPosition } from './position.js';

/** Reads events, and facts of the same snapshot, in one round trip. */
export type ReadEvents = (query: StoredEventQuery, options?: ReadOptions) => Promise<EventsAndFacts>;

export interface ReadOptions {
  /** SQL: a further condition on the events. */
  readonly only?: string;
  /** SQL: expressions with `AS` names. `matching` is a FROM and WHERE for all events of the query, without `only`. */
  readonly facts?: (matching: string) => readonly string[];
}

export interface EventsAndFacts {
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
  readonly change_id: string | null;
  readonly reason: string | null;
  readonly data: string;
  readonly before: string;
}

const HEAD =
  'commit_order, id, type, at, actor, subject_kind, subject_id, revision, project, environment, actor_token_id, actor_token_kind, change_id, reason';
const WHOLE = `${HEAD}, data, before`;
/** JSON texts that the caller ignores. */
const WITHOUT_DATA = `${HEAD}, 'null' AS data, 'null' AS before`;

export function createReadEvents(statements: Statements, names: TableNames): ReadEvents {
  const table = names.table('events');

  return async (query, { only, facts = () => [] } = {}) => {
    const { conditions, values } = toConditions(query);
    const matching = fromWhere(table, conditions);
    const wanted = fromWhere(table, only === undefined ? conditions : [...conditions, only]);
    const asked = [...facts(matching), ...(query.total ? [`(SELECT count(*) FROM ${wanted}) AS total`] : [])];
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
    return { facts: first, page: query.total ? { events, total: Number(first.total) } : { events } };
  };
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
  return {
    id: Number(row.id),
    position: toPosition({ commitOrder: row.commit_order, id: row.id }),
    type: fromStoredText(row.type),
    at: fromStoredText(row.at),
    actor: fromStoredText(row.actor),
    ...(row.actor_token_id !== null && { actorTokenId: fromStoredText(row.actor_token_id) }),
    ...(row.actor_token_kind !== null && { actorTokenKind: fromStoredText(row.actor_token_kind) }),
    changeSet: row.change_id === null ? null : fromStoredText(row.change_id),
    reason: row.reason === null ? null : fromStoredText(row.reason),
    subject: { kind: fromStoredText(row.subject_kind), id: fromStoredText(row.subject_id) },
    revision: Number(row.revision),
    project: row.project === null ? null : fromStoredText(row.project),
    environment: row.environment === null ? null : fromStoredText(row.environment),
    data: JSON.parse(row.data),
    before: JSON.parse(row.before),
  };
}
