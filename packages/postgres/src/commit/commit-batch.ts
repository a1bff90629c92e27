import { FlagsError } from '@flags/core';
import type { PreparedCommit } from '@flags/core/integration/postgres';
import type { DocumentKey } from '@flags/core/storage';
import { bumpVersionShard } from '../data-version.js';
import { FEED_OFFSET } from '../feed/position.js';
import { newerSchema, SCHEMA_VERSION } from '../schema/migrations.js';
import { fromStoredText, type TableLocation, type TableNames } from '../tables.js';
import { documentSteps, eventStatement, transactionColumns, vacancyStatement } from './statements.js';

export interface CommitTables {
  readonly names: TableNames;
  readonly location: TableLocation;
  /** SQL: the key of the advisory lock that every commit holds as shared. The feed and migrations take it exclusively. */
  readonly commitLock: string;
}

/** The rows of each statement. */
type Answers = readonly (readonly Readonly<Record<string, string | null>>[])[];

/**
 * All statements of a commit as one text, which is sent in one transaction. The statements write without waiting for a
 * decision: if {@link CommitBatch.read} throws, the transaction must be rolled back.
 */
export interface CommitBatch {
  readonly text: string;
  /** Throws {@link Conflict} if a document is not as expected, and `storage_unsupported` if the tables are of a newer version. */
  read(answers: Answers): WrittenCommit;
}

/** A commit whose statements have succeeded, before its COMMIT. */
export interface WrittenCommit {
  /** Of the writes, in their order. */
  readonly revisions: readonly number[];
  readonly transaction: string | undefined;
  /** Ids of the events. */
  readonly events: readonly string[];
}

/** Thrown within the transaction, to have it rolled back. */
export class Conflict extends Error {
  constructor(readonly key: DocumentKey) {
    super('A document has another revision.');
  }
}

/**
 * The lock comes first: it is held from before the transaction has an id until it ends. The schema version comes last, in a
 * statement that begins under the lock, so that no migration can raise it before the commit.
 */
export function commitBatch(commit: PreparedCommit, { names, location, commitLock }: CommitTables): CommitBatch {
  const { writes, checks, vacant } = commit;
  const steps = documentSteps(commit, names);
  const statements = [
    `SELECT pg_advisory_xact_lock_shared(${commitLock})`,
    ...steps.map(({ statement }) => statement),
    ...vacant.map((vacancy) => vacancyStatement(vacancy, names)),
    ...(commit.events.length > 0
      ? [eventStatement(commit, names)]
      : [bumpVersionShard(names), `SELECT ${transactionColumns(names)}`]),
  ];
  return {
    text: statements.join(';\n'),
    read([_lock, ...answers]) {
      const last = answers.at(-1) ?? [];
      // An older library does not know the rules that a newer one keeps when it writes.
      const version = Number(last[0]?.schema_version ?? SCHEMA_VERSION);
      if (version > SCHEMA_VERSION) throw newerSchema({ ...location, version, newest: SCHEMA_VERSION });
      const found = new Map(steps.map(({ named }, index) => [named, answers[index]?.[0]?.revision]));
      const moved = [...writes, ...checks].find((named) => typeof found.get(named) !== 'string');
      if (moved) throw new Conflict(moved.key);
      for (const [index, { kind }] of vacant.entries()) {
        const id = answers[steps.length + index]?.[0]?.id;
        if (typeof id === 'string') throw new Conflict({ kind, id: fromStoredText(id) });
      }
      const events = last.flatMap(({ id }) => id ?? []);
      if (events.length !== commit.events.length) throw lostOffset(names);
      const revisions = writes.map((write) => Number(found.get(write)));
      return { revisions, events, transaction: last[0]?.transaction ?? undefined };
    },
  };
}

/** Without the offset no event has a position, and a change must not be made without its events. */
function lostOffset(names: TableNames): FlagsError {
  const message = `The table ${names.table('meta')} has lost its row ${FEED_OFFSET}. Restore it.`;
  return new FlagsError('storage_unsupported', message);
}
