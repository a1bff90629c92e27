import { FlagsError } from '@flags/core';
import type { PreparedCommit } from '@flags/core/integration';
import type { DocumentKey } from '@flags/core/storage';
import { bumpVersionShard } from '../data-version.js';
import { FEED_OFFSET, TRANSACTION_ID } from '../feed/position.js';
import { fromStoredText, type TableNames } from '../tables.js';
import { type DocumentStep, documentSteps, eventStatement, vacancyStatement } from './statements.js';

export interface CommitTables {
  readonly names: TableNames;
  /** SQL: the key of the advisory lock that every commit holds as shared. The feed takes it exclusively. */
  readonly commitLock: string;
}

/** The rows of each statement. */
export type Answers = readonly (readonly Row[])[];
type Row = Readonly<Record<string, string | null>>;

/**
 * All statements of a commit as one text, which is sent in one transaction. If {@link CommitBatch.read} returns a
 * conflict, the transaction must be rolled back: the statements write without waiting for that decision.
 */
export interface CommitBatch {
  readonly text: string;
  read(answers: Answers): CommitAnswer;
}

export type CommitAnswer = { readonly conflict: DocumentKey } | WrittenCommit;

/** A commit whose statements have succeeded, before its COMMIT. */
export interface WrittenCommit {
  /** Of the writes, in their order. */
  readonly revisions: readonly number[];
  readonly transaction: string | undefined;
  /** Ids of the events. */
  readonly events: readonly string[];
}

/** The lock comes first: it is held from before the transaction has an id until it ends. */
export function commitBatch(commit: PreparedCommit, { names, commitLock }: CommitTables): CommitBatch {
  const steps = documentSteps(commit, names);
  const parts: readonly (readonly string[])[] = [
    [`SELECT pg_advisory_xact_lock_shared(${commitLock})`],
    steps.map(({ statement }) => statement),
    commit.vacant.map((vacancy) => vacancyStatement(vacancy, names)),
    ...(commit.events.length > 0
      ? [[], [eventStatement(commit, names)]]
      : [[bumpVersionShard(names)], [`SELECT ${TRANSACTION_ID} AS transaction`]]),
  ];
  return {
    text: parts.flat().join(';\n'),
    read(answers) {
      const [, documents, children, , [last = []] = []] = divide(answers, parts);
      const conflict = findMoved(commit, { steps, documents }) ?? findOccupant(commit, children);
      if (conflict) return { conflict };
      const events = last.flatMap(({ id }) => id ?? []);
      if (events.length !== commit.events.length) throw lostOffset(names);
      return {
        revisions: revisionsOf(commit, { steps, documents }),
        events,
        transaction: last[0]?.transaction ?? undefined,
      };
    },
  };
}

/** Without the offset no event has a position, and a change must not be made without its events. */
function lostOffset(names: TableNames): FlagsError {
  const message = `The table ${names.table('meta')} has lost its row ${FEED_OFFSET}. Restore it.`;
  return new FlagsError('storage_unsupported', message);
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

/** The first write or check, in the order of the commit, whose document has another revision. */
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
