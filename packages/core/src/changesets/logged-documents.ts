import { groupBy } from '../base/collections.js';
import { paced } from '../base/paced.js';
import type { CommittedDocuments } from '../engine.js';
import { FlagsError } from '../errors.js';
import { type Documents, nameOf, type Versioned } from '../storage/documents.js';
import type { DocumentKey } from '../storage/port.js';
import { foldEvents, hasHistory } from './aggregates.js';
import type { ChangeSetLog, LoggedSet } from './change-set-log.js';

/** A document that a set has changed, with its states around the set. */
export interface LoggedDocument {
  readonly key: DocumentKey;
  readonly before: unknown;
  readonly after: unknown;
  /** The revision after the set. */
  readonly revision: number;
}

/** Reads the documents that a set has changed. Leaves out tokens, which have no history. */
export async function readLoggedDocuments(log: ChangeSetLog, { events }: LoggedSet): Promise<LoggedDocument[]> {
  const changed: LoggedDocument[] = [];
  for await (const own of paced(groupBy(events, ({ subject }) => nameOf(subject)).values())) {
    const [first] = own;
    if (!first || !hasHistory(first.subject)) continue;
    const { subject: key, revision } = first;
    const before = await log.stateBefore(first);
    changed.push({ key, before, after: foldEvents(key.kind, before, own), revision });
  }
  return changed;
}

/**
 * Reads the documents of a committed set as it has left them.
 *
 * @throws FlagsError `outcome_unknown` if they cannot be read: a failed read must not report that nothing has changed
 */
export function readDocumentsAfter(log: ChangeSetLog, id: string): Promise<CommittedDocuments> {
  return readCommittedSet(id, async () => {
    const changed = await readLoggedDocuments(log, await log.readSet(id));
    return {
      async read<State>({ kind }: Documents<State>, id: string) {
        const found = changed.find(({ key }) => key.kind === kind && key.id === id);
        if (found?.after === undefined) return undefined;
        return { state: found.after, revision: found.revision } as Versioned<State>;
      },
      written<State>({ kind }: Documents<State>) {
        const own = changed.filter(({ key }) => key.kind === kind);
        return new Map(own.map(({ key, after }) => [key.id, after as State | undefined]));
      },
    };
  });
}

/**
 * Reads what a committed set has changed.
 *
 * @throws FlagsError `outcome_unknown` if the read fails
 */
export async function readCommittedSet<T>(id: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `The change set ${id} was committed, but its events cannot be read (${reason}). Repeat the call with this id.`;
    throw new FlagsError('outcome_unknown', message, undefined, { cause: error });
  }
}
