import type { DocumentCheck, DocumentWrite } from './commit-port.js';
import type { Documents } from './document-reader.js';
import type { DocumentKey, FlagsStorage } from './port.js';

/** Documents without events, such as the last use of a token. */
export interface IndexDocuments<State> extends Documents<State> {
  readonly summarize: (state: State) => unknown;
}

/** The change of one index document. */
export interface IndexChange<State> {
  readonly id: string;
  /** The document that it indexes. If that does not exist, nothing is written. Absent: it indexes none. */
  readonly of?: DocumentKey;
  /**
   * Returns the new state, null to delete the document, or undefined to leave it. The revision is 0 without a document.
   * Called again after a conflict.
   */
  readonly decide: (stored: State | undefined, revision: number) => State | null | undefined;
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
    const [writes, checks] = [due.map(({ write }) => write), due.flatMap(({ check }) => check ?? [])];
    if ((await storage.commit({ writes, checks, events: [] })).ok) return true;
  }
  return false;
}

/** Returns the write of a change, and the check that the indexed document still exists. */
async function toWrite<State>(
  storage: Pick<FlagsStorage, 'get'>,
  { kind, parentOf, summarize }: IndexDocuments<State>,
  { id, of, decide }: IndexChange<State>,
): Promise<{ readonly write: DocumentWrite; readonly check: DocumentCheck | undefined } | undefined> {
  const key = { kind, id };
  const [indexed, stored] = await Promise.all([of && storage.get(of), storage.get(key)]);
  if (of && !indexed) return undefined;
  const expected = stored?.revision ?? 0;
  const next = decide(stored?.body as State | undefined, expected);
  if (next === undefined) return undefined;
  const check = of && indexed && { key: of, expected: indexed.revision };
  if (next === null) return { write: { key, expected, deleted: true }, check };
  return { write: { key, expected, parent: parentOf(next), body: next, summary: summarize(next) }, check };
}
