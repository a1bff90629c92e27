import type { DocumentCheck, DocumentPut } from './commit-port.js';
import type { Documents } from './documents.js';
import type { DocumentKey, FlagsStorage } from './port.js';

/** Documents without events, such as the last use of a token. */
export interface IndexDocuments<State> extends Documents<State> {
  readonly summarize: (state: State) => unknown;
}

/** The change of one index document. */
export interface IndexChange<State> {
  readonly id: string;
  /** The document that it indexes. Without it nothing is written. */
  readonly of: DocumentKey;
  /** Returns the new state; undefined to leave the stored one. Called again after a conflict. */
  readonly decide: (stored: State | undefined) => State | undefined;
}

/** The writer gives up after this many conflicts. */
const ATTEMPTS = 5;

/**
 * The only writer of index documents that change without a change set. It appends no events, and never moves the revision
 * of another document. All changes are one commit.
 *
 * @returns whether the changes are stored; false if other processes keep changing the same documents
 */
export async function writeIndexDocuments<State>(
  storage: Pick<FlagsStorage, 'get' | 'commit'>,
  documents: IndexDocuments<State>,
  changes: readonly IndexChange<State>[],
): Promise<boolean> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const decided = await Promise.all(changes.map((change) => toWrite(storage, documents, change)));
    const due = decided.filter((one) => one !== undefined);
    if (due.length === 0) return true;
    const [writes, checks] = [due.map(({ write }) => write), due.map(({ check }) => check)];
    if ((await storage.commit({ writes, checks, events: [] })).ok) return true;
  }
  return false;
}

/** Returns the write of a change, and the check that the indexed document still exists. */
async function toWrite<State>(
  storage: Pick<FlagsStorage, 'get'>,
  { kind, parentOf, summarize }: IndexDocuments<State>,
  { id, of, decide }: IndexChange<State>,
): Promise<{ readonly write: DocumentPut; readonly check: DocumentCheck } | undefined> {
  const key = { kind, id };
  const [indexed, stored] = await Promise.all([storage.get(of), storage.get(key)]);
  const next = indexed && decide(stored?.body as State | undefined);
  if (!indexed || next === undefined) return undefined;
  return {
    write: { key, expected: stored?.revision ?? 0, parent: parentOf(next), body: next, summary: summarize(next) },
    check: { key: of, expected: indexed.revision },
  };
}
