import { type ErrorCode, FlagsError } from '../../base/errors.js';
import { LIMITS } from '../../base/limits.js';
import { locateRefusals, toNoun } from '../../base/validator.js';
import type { Versioned } from '../../storage/document-reader.js';
import type { DocumentKey } from '../../storage/port.js';
import type { PreparedChange } from '../engine.js';
import type { Registry } from '../registry.js';

/** A document that must be at a revision. */
export interface ExpectedRevision {
  readonly key: DocumentKey;
  readonly revision: number;
  /** A JSON Pointer into the caller's input. */
  readonly path: string;
}

interface RevisionSource {
  /** Resolves to the stored document; undefined if there is none. */
  stored(key: DocumentKey): Promise<Versioned<unknown> | undefined>;
}

/** Throws `revision_mismatch` unless the stored document is at a revision that the caller accepts. */
export async function assertRevision(
  unit: RevisionSource,
  { subject, revisionOf = subject }: Pick<PreparedChange, 'subject' | 'revisionOf'>,
  accepted: number | readonly number[],
): Promise<void> {
  const revision = (await unit.stored(revisionOf))?.revision;
  if (revision !== undefined && [accepted].flat().includes(revision)) return;
  throw revisionMismatch(revisionOf, revision, [accepted].flat());
}

/** Throws `revision_mismatch` unless the stored document is at the expected revision. */
export function assertExpected(unit: RevisionSource, { key, revision, path }: ExpectedRevision): Promise<void> {
  return locateRefusals(path, () => assertRevision(unit, { subject: key }, revision));
}

function revisionMismatch(
  { kind, id }: DocumentKey,
  revision: number | undefined,
  accepted: readonly number[],
): FlagsError {
  const state = revision === undefined ? 'does not exist' : `is at revision ${revision}`;
  const name = id === '' ? toNoun(kind) : `${toNoun(kind)} ${id}`;
  // JavaScript callers may pass any value.
  const numbers = accepted.filter((one) => typeof one === 'number');
  const message = `The ${name} ${state}, not at ${numbers.join(' or ')}; read it again and repeat the change.`;
  return new FlagsError('revision_mismatch', message);
}

/** @param path a JSON Pointer to a change; undefined for a single operation */
function refusalAt(path: string | undefined, code: ErrorCode, message: string): FlagsError {
  return new FlagsError(code, message, path === undefined ? undefined : [{ message, path }]);
}

/** The only index document that grows is the one of all names of segments. */
const INDEX_ADVICE = 'it holds the names of all segments: delete segments, or choose shorter names';

interface TooLarge {
  readonly bytes: number;
  /** The place of the last change of the document in the caller's input. */
  readonly path?: string | undefined;
}

export function documentTooLarge(
  { kindOf }: Registry,
  { kind, id }: DocumentKey,
  { bytes, path }: TooLarge,
): FlagsError {
  const advice = kindOf(kind)?.smaller ?? INDEX_ADVICE;
  const message = `The ${toNoun(kind)} ${id} would have ${bytes} bytes, but a document may have at most ${LIMITS.documentBytes}; ${advice}.`;
  return refusalAt(path, 'document_too_large', message);
}

/** @param path the place of the last change of the document in the caller's input */
export function setTooLarge(path: string | undefined): FlagsError {
  const message =
    `The changes would write more than ${LIMITS.changeSetBytes} bytes of documents and events in one commit; split them ` +
    'into several change sets, or import by project. Before you delete a large project, delete its archived flags and ' +
    'segments.';
  return refusalAt(path, 'change_set_too_large', message);
}
