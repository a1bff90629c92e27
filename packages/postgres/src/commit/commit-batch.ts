import { type DocumentKey, FlagsError } from '@flags/core';
import type { PreparedCommit } from '@flags/core/integration';
import type { FeedOrder } from '../feed/order.js';
import type { PlacedCommit } from '../feed/snapshot-feed.js';
import { fromStoredText, type TableNames } from '../tables.js';
import { markStatement } from '../version-shards.js';
import { type DocumentStep, documentSteps, eventStatement, vacancyStatement } from './statements.js';

export interface CommitTables {
  readonly names: TableNames;
  readonly order: FeedOrder;
}

/** The rows that each statement gave. */
export type Answers = readonly (readonly Row[])[];
type Row = Readonly<Record<string, string | null>>;

/**
 * Everything that a commit does, as statements that go to the database at once, in one transaction. They compare and
 * write without waiting for what is thought of it: where {@link CommitBatch.read} finds a conflict, the transaction has
 * to be rolled back.
 */
export interface CommitBatch {
  readonly text: string;
  read(answers: Answers): Read;
}

export type Read = { readonly conflict: DocumentKey } | Done;

/** A commit that has been done, and waits for its end. */
export interface Done extends PlacedCommit {
  /** Of the writes, in their order. */
  readonly revisions: readonly number[];
  /** The transaction's id; undefined where the database has none. */
  readonly transaction: string | undefined;
  /** Ids of the events. */
  readonly events: readonly string[];
}

export function commitBatch(commit: PreparedCommit, { names, order }: CommitTables): CommitBatch {
  const steps = documentSteps(commit, names);
  const parts: readonly (readonly string[])[] = [
    order.first === undefined ? [] : [order.first],
    steps.map(({ statement }) => statement),
    commit.vacant.map((vacancy) => vacancyStatement(vacancy, names)),
    ...endOf(commit, { names, order }),
  ];
  return {
    text: parts.flat().join(';\n'),
    read(answers) {
      const [first, documents, children, , [last = []] = []] = divide(answers, parts);
      const conflict = findMoved(commit, { steps, documents }) ?? findOccupant(commit, children);
      if (conflict) return { conflict };
      const events = last.flatMap(({ id }) => id ?? []);
      if (events.length !== commit.events.length) throw lostNumber(names, order);
      return {
        revisions: revisionsOf(commit, { steps, documents }),
        events,
        transaction: last[0]?.transaction ?? undefined,
        source: first?.[0]?.[0]?.source ?? undefined,
        place: last[0]?.place ?? undefined,
      };
    },
  };
}

/** Without it no event has a place, and a change without its events must not be made. */
function lostNumber(names: TableNames, { row }: FeedOrder): FlagsError {
  return new FlagsError('storage_unsupported', `The table ${names.table('meta')} has lost its row ${row}. Restore it.`);
}

/** What takes the commit's turn, or marks that it was there, and what tells its transaction. */
function endOf(commit: PreparedCommit, { names, order }: CommitTables): readonly (readonly string[])[] {
  if (commit.events.length === 0) return [[markStatement(names)], [`SELECT ${order.transaction} AS transaction`]];
  return [order.turn === undefined ? [] : [order.turn], [eventStatement(commit, { names, order })]];
}

/** The answers to each part. */
function divide(answers: Answers, parts: readonly (readonly string[])[]): readonly Answers[] {
  let end = 0;
  return parts.map(({ length }) => {
    end += length;
    return answers.slice(end - length, end);
  });
}

interface Documents {
  readonly steps: readonly DocumentStep[];
  readonly documents: Answers | undefined;
}

/** The first that the commit names of those that are not as expected. */
function findMoved(commit: PreparedCommit, compared: Documents): DocumentKey | undefined {
  const revisions = revisionsByName(compared);
  return [...commit.writes, ...commit.checks].find((named) => !revisions.has(named))?.key;
}

function revisionsOf({ writes }: PreparedCommit, compared: Documents): readonly number[] {
  const revisions = revisionsByName(compared);
  return writes.map((write) => Number(revisions.get(write)));
}

function revisionsByName({ steps, documents = [] }: Documents): ReadonlyMap<DocumentStep['named'], string> {
  const found = steps.map(({ named }, index) => [named, documents[index]?.[0]?.revision] as const);
  return new Map(found.filter((pair): pair is [DocumentStep['named'], string] => typeof pair[1] === 'string'));
}

function findOccupant({ vacant }: PreparedCommit, children: Answers = []): DocumentKey | undefined {
  for (const [index, { kind }] of vacant.entries()) {
    const id = children[index]?.[0]?.id;
    if (typeof id === 'string') return { kind, id: fromStoredText(id) };
  }
  return undefined;
}
