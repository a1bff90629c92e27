import type { PreparedCommit } from '@flags/core';
import type { Statement } from '../database.js';
import type { FeedOrder } from '../feed/feed-order.js';
import type { TableNames } from '../schema/table-names.js';
import { toStoredText } from '../stored-text.js';
import { type Lock, lockRuns, toStoredKey, toStoredTextOrNull } from './stored-commit.js';

/** What the statements tell: one row per lock, write and event, and the transaction. */
export interface CommitRow {
  readonly source: 'lock' | 'write' | 'event' | 'transaction' | 'misplaced';
  readonly kind: string;
  readonly id: string;
  /** The revision of a lock (0: no document) or write, the id of an event, the id of the transaction. */
  readonly number: string;
}

export interface CommitTables {
  readonly names: TableNames;
  readonly order: FeedOrder;
}

/** Locks everything that a commit names, and tells the revisions. */
export function lockStatement(commit: PreparedCommit, { names }: CommitTables): Statement {
  const parameters = createParameters();
  const locks = lockExpressions(lockRuns(commit), { names, parameters });
  return { text: `WITH ${locks} ${LOCK_ROWS}`, values: parameters.values };
}

/**
 * Does a whole commit: locks, compares, writes, and appends the events. Writes nothing when a revision is not as expected.
 * A document that is created elsewhere at the same moment is missing among the rows of writes; then the transaction has
 * to be rolled back.
 */
export function commitStatement(commit: PreparedCommit, { names, order }: CommitTables): Statement {
  const parameters = createParameters();
  const runs = lockRuns(commit);
  const expressions = [
    lockExpressions(runs, { names, parameters }),
    soundExpression(runs.flat(), parameters),
    ...writeExpressions(commit, { names, parameters }),
    ...(commit.events.length > 0 ? [`turn AS (${order.next})`, eventExpression(commit, { names, parameters })] : []),
  ];
  const rows = [
    LOCK_ROWS,
    "SELECT 'write', kind, id, revision FROM written",
    ...(commit.events.length > 0 ? ["SELECT 'event', '', '', id FROM told"] : []),
    ...order.facts,
  ];
  return { text: `WITH ${expressions.join(',\n')}\n${rows.join('\nUNION ALL ')}`, values: parameters.values };
}

interface Parameters {
  readonly values: readonly unknown[];
  /** Adds an array, and gives what stands for it in the text. */
  add(type: 'text' | 'bigint', array: readonly (string | number | null)[]): string;
}

interface Surroundings {
  readonly names: TableNames;
  readonly parameters: Parameters;
}

const LOCK_ROWS = `
SELECT 'lock' AS source, kind, id, CASE WHEN present THEN revision ELSE 0 END AS number FROM locked`;

function createParameters(): Parameters {
  const values: unknown[] = [];
  return { values, add: (type, array) => `$${values.push(array)}::${type}[]` };
}

/** Each run waits for the one before it: PostgreSQL carries out the parts of a statement in the order of their need. */
function lockExpressions(runs: readonly (readonly Lock[])[], { names, parameters }: Surroundings): string {
  const expressions = runs.map((run, index) => {
    const kinds = parameters.add(
      'text',
      run.map(({ key }) => key.kind),
    );
    const ids = parameters.add(
      'text',
      run.map(({ key }) => key.id),
    );
    return `run_${index} AS MATERIALIZED (
  SELECT d.kind, d.id, d.revision, d.body IS NOT NULL AS present
  FROM ${names.table('documents')} AS d JOIN unnest(${kinds}, ${ids}) AS k (kind, id) ON d.kind = k.kind AND d.id = k.id
  ${index > 0 ? `WHERE (SELECT count(*) FROM run_${index - 1}) >= 0` : ''}
  ORDER BY d.kind, d.id
  FOR ${run[0]?.strength} OF d
)`;
  });
  const all = runs.map((_, index) => `SELECT * FROM run_${index}`).join(' UNION ALL ') || NOTHING_LOCKED;
  return [...expressions, `locked AS MATERIALIZED (${all})`].join(',\n');
}

const NOTHING_LOCKED = "SELECT '' AS kind, '' AS id, 0::bigint AS revision, false AS present WHERE false";

/** Whether every revision is as expected; 0 where there is no document. */
function soundExpression(locks: readonly Lock[], parameters: Parameters): string {
  const kinds = parameters.add(
    'text',
    locks.map(({ key }) => key.kind),
  );
  const ids = parameters.add(
    'text',
    locks.map(({ key }) => key.id),
  );
  const expected = parameters.add(
    'bigint',
    locks.map((lock) => lock.expected),
  );
  return `sound AS MATERIALIZED (
  SELECT NOT EXISTS (
    SELECT FROM unnest(${kinds}, ${ids}, ${expected}) AS k (kind, id, expected)
    LEFT JOIN locked AS l ON l.kind = k.kind AND l.id = k.id
    WHERE CASE WHEN l.present THEN l.revision ELSE 0 END <> k.expected
  ) AS holds
)`;
}

function writeExpressions({ writes }: PreparedCommit, { names, parameters }: Surroundings): readonly string[] {
  const keys = writes.map(({ key }) => toStoredKey(key));
  const columns = [
    parameters.add(
      'text',
      keys.map(({ kind }) => kind),
    ),
    parameters.add(
      'text',
      keys.map(({ id }) => id),
    ),
    parameters.add(
      'bigint',
      writes.map(({ expected }) => expected),
    ),
    parameters.add(
      'text',
      writes.map(({ parent }) => toStoredTextOrNull(parent)),
    ),
    parameters.add(
      'text',
      writes.map(({ content }) => content?.summary ?? null),
    ),
    parameters.add(
      'text',
      writes.map(({ content }) => content?.body ?? null),
    ),
  ];
  const documents = names.table('documents');
  return [
    `writes AS MATERIALIZED (
  SELECT * FROM unnest(${columns.join(', ')}) AS w (kind, id, expected, parent, summary, body)
)`,
    `updated AS (
  UPDATE ${documents} AS d SET parent = w.parent, revision = d.revision + 1, summary = w.summary, body = w.body
  FROM writes AS w
  WHERE d.kind = w.kind AND d.id = w.id AND CASE WHEN d.body IS NULL THEN 0 ELSE d.revision END = w.expected
    AND (SELECT holds FROM sound)
  RETURNING d.kind, d.id, d.revision
)`,
    `inserted AS (
  INSERT INTO ${documents} (kind, id, parent, revision, summary, body)
  SELECT w.kind, w.id, w.parent, 1, w.summary, w.body FROM writes AS w
  WHERE w.expected = 0 AND (SELECT holds FROM sound)
    AND NOT EXISTS (SELECT FROM locked AS l WHERE l.kind = w.kind AND l.id = w.id)
  ORDER BY w.kind COLLATE "C", w.id COLLATE "C"
  ON CONFLICT (kind, id) DO NOTHING
  RETURNING kind, id, revision
)`,
    'written AS (SELECT * FROM updated UNION ALL SELECT * FROM inserted)',
  ];
}

/** Ids are given in the order of the events: a default is evaluated after the sort. */
function eventExpression({ events }: PreparedCommit, { names, parameters }: Surroundings): string {
  const subjects = events.map(({ subject }) => toStoredKey(subject));
  const columns = [
    parameters.add(
      'text',
      events.map(({ type }) => toStoredText(type)),
    ),
    parameters.add(
      'text',
      events.map(({ at }) => toStoredText(at)),
    ),
    parameters.add(
      'text',
      events.map(({ actor }) => toStoredText(actor)),
    ),
    parameters.add(
      'text',
      subjects.map(({ kind }) => kind),
    ),
    parameters.add(
      'text',
      subjects.map(({ id }) => id),
    ),
    parameters.add(
      'text',
      events.map(({ project }) => toStoredTextOrNull(project)),
    ),
    parameters.add(
      'text',
      events.map(({ environment }) => toStoredTextOrNull(environment)),
    ),
    parameters.add(
      'text',
      events.map(({ data }) => data),
    ),
    parameters.add(
      'text',
      events.map(({ before }) => before),
    ),
  ];
  return `told AS (
  INSERT INTO ${names.table('events')} (
    commit_order, type, at, actor, subject_kind, subject_id, revision, project, environment, data, before
  )
  SELECT turn.commit_order, e.type, e.at, e.actor, e.kind, e.id, written.revision, e.project, e.environment, e.data, e.before
  FROM unnest(${columns.join(', ')}) WITH ORDINALITY
    AS e (type, at, actor, kind, id, project, environment, data, before, place)
  JOIN written ON written.kind = e.kind AND written.id = e.id
  CROSS JOIN turn
  ORDER BY e.place
  RETURNING id
)`;
}
