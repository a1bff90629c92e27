import type { CommitResult, DocumentKey, PreparedCommit } from '@flags/core';
import type { Database, Statements } from '../database.js';
import { type CommitRow, type CommitTables, commitStatement, lockStatement } from './commit-statement.js';
import type { Outcomes } from './outcome.js';
import { toStoredKey } from './stored-commit.js';
import { findOccupant } from './vacancy.js';

export interface CommitParts extends CommitTables {
  readonly database: Database;
  readonly outcomes: Outcomes | undefined;
  /** Puts the feed right on a server that gives other transaction ids than the one the events came from. */
  readonly placeFeed: () => Promise<void>;
}

/** Carries a commit out, in one transaction. */
export async function carryOut(commit: PreparedCommit, parts: CommitParts): Promise<CommitResult> {
  const { database, order, outcomes } = parts;
  try {
    const { revisions } = await database.transaction<Done>((statements) => attempt(commit, { ...parts, statements }), {
      first: order.first,
      findOutcome: outcomes && ((done) => outcomes.find({ ...done, commit })),
    });
    return { ok: true, revisions };
  } catch (error) {
    if (error instanceof Conflict) return { ok: false, conflict: error.key };
    if (!(error instanceof MisplacedFeed)) throw error;
    await parts.placeFeed();
    return carryOut(commit, parts);
  }
}

/** Thrown to leave the transaction, which is then rolled back. */
class Conflict extends Error {
  constructor(readonly key: DocumentKey) {
    super('A document had moved.');
  }
}

class MisplacedFeed extends Error {}

/** A commit that has been done, and waits for its end. */
export interface Done {
  readonly revisions: readonly number[];
  /** The transaction's id; undefined where the database has none. */
  readonly transaction: string | undefined;
  readonly events: readonly string[];
}

async function attempt(commit: PreparedCommit, parts: CommitParts & { statements: Statements }): Promise<Done> {
  if (commit.vacant.length > 0) await refuseOccupied(commit, parts);
  const { text, values } = commitStatement(commit, parts);
  const rows = await parts.statements.query<CommitRow>(text, values);
  refuseMoved(commit, rows);
  if (rows.some(({ source }) => source === 'misplaced')) throw new MisplacedFeed();
  const written = numbersByKey(rows, 'write');
  const revisions = commit.writes.map(({ key }) => {
    const revision = written.get(nameOf(toStoredKey(key)));
    // It was not there to be locked, and is there now: somebody has created it meanwhile.
    if (revision === undefined) throw new Conflict(key);
    return Number(revision);
  });
  const events = rows.flatMap(({ source, number }) => (source === 'event' ? [number] : []));
  return { revisions, events, transaction: rows.find(({ source }) => source === 'transaction')?.number };
}

/** Vacancy is looked at by a statement of its own: one that begins before all locks are held may see too little. */
async function refuseOccupied(commit: PreparedCommit, parts: CommitParts & { statements: Statements }): Promise<void> {
  const { text, values } = lockStatement(commit, parts);
  refuseMoved(commit, await parts.statements.query<CommitRow>(text, values));
  const occupant = await findOccupant(commit, parts);
  if (occupant) throw new Conflict(occupant);
}

function refuseMoved({ writes, checks }: PreparedCommit, rows: readonly CommitRow[]): void {
  const locked = numbersByKey(rows, 'lock');
  const moved = [...writes, ...checks].find(
    ({ key, expected }) => Number(locked.get(nameOf(toStoredKey(key))) ?? 0) !== expected,
  );
  if (moved) throw new Conflict(moved.key);
}

function numbersByKey(rows: readonly CommitRow[], source: CommitRow['source']): ReadonlyMap<string, string> {
  return new Map(rows.filter((row) => row.source === source).map((row) => [nameOf(row), row.number]));
}

function nameOf({ kind, id }: DocumentKey): string {
  return JSON.stringify([kind, id]);
}
