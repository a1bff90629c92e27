import { FlagsError } from '../errors.js';
import type { DocumentKey } from '../storage/port.js';
import { locateRefusal } from './refusal-path.js';
import type { RunnableCopy } from './working-copy.js';

/** A document that must be at a revision. */
export interface ExpectedRevision {
  readonly key: DocumentKey;
  readonly revision: number;
  /** A JSON Pointer into the caller's input. */
  readonly path: string;
}

interface Subject {
  readonly subject: DocumentKey;
  /** The document that `ifRevision` refers to; the subject when absent. */
  readonly revisionOf?: DocumentKey;
}

/** Throws `revision_mismatch` unless the stored document is at a revision that the caller accepts. */
export async function assertRevision(
  copy: RunnableCopy,
  { subject, revisionOf = subject }: Subject,
  accepted: number | readonly number[],
): Promise<void> {
  const revision = await copy.storedRevision(revisionOf);
  if (revision !== undefined && [accepted].flat().includes(revision)) return;
  throw revisionMismatch(revisionOf, revision, [accepted].flat());
}

/** Throws `revision_mismatch` unless the stored document is at the expected revision. */
export async function assertExpected(copy: RunnableCopy, { key, revision, path }: ExpectedRevision): Promise<void> {
  const stored = await copy.storedRevision(key);
  if (stored !== revision) throw locateRefusal(revisionMismatch(key, stored, [revision]), path);
}

function revisionMismatch(
  { kind, id }: DocumentKey,
  revision: number | undefined,
  accepted: readonly number[],
): FlagsError {
  const state = revision === undefined ? 'does not exist' : `is at revision ${revision}`;
  const name = id === '' ? kind : `${kind} ${id}`;
  const message = `The ${name} ${state}, not at ${accepted.join(' or ')}; read it again and repeat the change.`;
  return new FlagsError('revision_mismatch', message);
}
