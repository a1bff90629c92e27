import { LIMITS } from '../base/limits.js';
import { invalidInput } from '../base/validator.js';
import type { PreparedChange } from '../engine/engine.js';
import { FlagsError, isFlagsError } from '../errors.js';
import { kindOf } from '../kinds.js';
import type { DocumentKey } from '../storage/port.js';

/** A document that must be at a revision. */
export interface ExpectedRevision {
  readonly key: DocumentKey;
  readonly revision: number;
  /** A JSON Pointer into the caller's input. */
  readonly path: string;
}

interface RevisionSource {
  /** Resolves to the stored revision; undefined if there is no document. */
  storedRevision(key: DocumentKey): Promise<number | undefined>;
}

/** Throws `revision_mismatch` unless the stored document is at a revision that the caller accepts. */
export async function assertRevision(
  unit: RevisionSource,
  { subject, revisionOf = subject }: Pick<PreparedChange, 'subject' | 'revisionOf'>,
  accepted: number | readonly number[],
): Promise<void> {
  const revision = await unit.storedRevision(revisionOf);
  if (revision !== undefined && [accepted].flat().includes(revision)) return;
  throw revisionMismatch(revisionOf, revision, [accepted].flat());
}

/** Throws `revision_mismatch` unless the stored document is at the expected revision. */
export async function assertExpected(unit: RevisionSource, { key, revision, path }: ExpectedRevision): Promise<void> {
  const stored = await unit.storedRevision(key);
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

/**
 * Returns a refusal that names a place in a change set. Details with a path of their own are about the input of the
 * change. Returns other errors, and refusals of single operations, unchanged.
 *
 * @param path a JSON Pointer to the change; absent for a single operation
 */
export function locateRefusal(error: unknown, path: string | undefined): unknown {
  if (path === undefined || !isFlagsError(error)) return error;
  const details = error.details.map((detail) => {
    return { ...detail, path: detail.path === undefined ? path : `${path}/input${detail.path}` };
  });
  const isAboutInput = error.details.some((detail) => detail.path !== undefined);
  if (error.code === 'invalid_input' && isAboutInput) return invalidInput(details);
  return new FlagsError(error.code, error.message, details, { cause: error });
}

/** The only index document that grows is the one of all names of segments. */
const INDEX_ADVICE = 'it holds the names of all segments: delete segments, or choose shorter names';

/** @param path the place of the last change of the document in the caller's input */
export function documentTooLarge({ kind, id }: DocumentKey, bytes: number, path: string | undefined): unknown {
  const advice = kindOf(kind)?.smaller ?? INDEX_ADVICE;
  const message = `The ${kind} ${id} would have ${bytes} bytes, but a document may have at most ${LIMITS.documentBytes}; ${advice}.`;
  return locateRefusal(new FlagsError('document_too_large', message), path);
}

/** @param path the place of the last change of the document in the caller's input */
export function setTooLarge(path: string | undefined): unknown {
  const message =
    `The changes would write more than ${LIMITS.changeSetBytes} bytes of documents and events in one commit; split them ` +
    'into several change sets, or import by project. Before you delete a large project, delete its archived flags and ' +
    'segments.';
  return locateRefusal(new FlagsError('change_set_too_large', message), path);
}
