import jsonpatch from 'fast-json-patch';
import type { JsonPatch, JsonPatchOperation } from '../api/json-patch.js';
import { FlagsError } from '../errors.js';
import { findMissingTarget, topMember } from './json-pointer.js';

/** Which top-level members of a document a patch may touch. */
export interface PatchScope {
  /** Members that it changes; every place of the document when absent. */
  readonly changeable?: readonly string[];
  /** Members that can be tested and copied from, while changes to them are left out without a word. */
  readonly kept?: readonly string[];
}

/** `copy` can double a document with every operation; so much may be copied by one patch, in characters of JSON. */
const MAX_COPIED = 1_048_576;

/**
 * Applies a JSON Patch (RFC 6902) to a copy of the document, all operations or none.
 *
 * fast-json-patch does the work; what it lets pass is refused here: inherited members, array indexes with leading zeros
 * or beyond the end, a move into itself, growth without bound.
 *
 * @throws FlagsError `invalid_patch` naming the operation, `patch_test_failed`
 */
export function applyPatch(document: unknown, patch: JsonPatch, scope: PatchScope): unknown {
  let current = copyOf(document);
  let copied = 0;
  for (const [index, operation] of copyOf(patch).entries()) {
    const effective = effectiveOperation(operation, index, scope);
    if (!effective) continue;
    copied += refuseImpossible(current, effective, index);
    if (copied > MAX_COPIED) throw refusal(index, 'path', 'copies more than a patch may');
    current = apply(current, effective, index);
  }
  return current;
}

/** The operation as it is carried out; undefined when it would only change what is kept. */
function effectiveOperation(operation: JsonPatchOperation, index: number, scope: PatchScope) {
  refuseOutside(operation.path, { index, member: 'path', scope });
  if ('from' in operation) refuseOutside(operation.from, { index, member: 'from', scope });
  if (operation.op !== 'test' && isKept(operation.path, scope)) return undefined;
  if (operation.op === 'move' && isKept(operation.from, scope)) return { ...operation, op: 'copy' as const };
  return operation;
}

function isKept(pointer: string, { kept = [] }: PatchScope): boolean {
  return kept.includes(topMember(pointer));
}

function refuseOutside(
  pointer: string,
  { index, member, scope }: { index: number; member: 'path' | 'from'; scope: PatchScope },
): void {
  if (scope.changeable === undefined) return;
  const top = topMember(pointer);
  if (pointer !== '' && (scope.changeable.includes(top) || isKept(pointer, scope))) return;
  const places = scope.changeable.map((name) => `/${name}`).join(', ');
  throw refusal(
    index,
    member,
    `leads to ${pointer === '' ? 'the whole document' : pointer}; a patch may change ${places}`,
  );
}

/** Refuses an operation without a target; answers how much it copies. */
function refuseImpossible(document: unknown, operation: JsonPatchOperation, index: number): number {
  if ('from' in operation) {
    if (operation.path.startsWith(`${operation.from}/`) && operation.op === 'move') {
      throw refusal(index, 'path', 'lies inside of what is moved');
    }
    const missing = findMissingTarget(document, operation.from, 'existing');
    if (missing) throw refusal(index, 'from', missing);
  }
  const target = operation.op === 'remove' || operation.op === 'replace' ? 'existing' : 'insertable';
  const missing = operation.op === 'test' ? undefined : findMissingTarget(document, operation.path, target);
  if (missing) throw refusal(index, 'path', missing);
  return operation.op === 'copy' ? JSON.stringify(jsonpatch.getValueByPointer(document, operation.from)).length : 0;
}

function apply(document: unknown, operation: JsonPatchOperation, index: number): unknown {
  if (operation.op === 'test' && findMissingTarget(document, operation.path, 'existing')) throw testFailure(index);
  try {
    return jsonpatch.applyOperation(document, operation, true, true).newDocument;
  } catch (error) {
    if (error instanceof Error && error.name === 'TEST_OPERATION_FAILED') throw testFailure(index);
    throw refusal(index, 'path', 'cannot be changed by a patch');
  }
}

function testFailure(index: number): FlagsError {
  const message = `The test in operation ${index} of the patch does not hold; read the current state and try again.`;
  return new FlagsError('patch_test_failed', message, [{ message: 'does not hold', path: `/${index}` }]);
}

function refusal(index: number, member: 'path' | 'from', message: string): FlagsError {
  const path = `/${index}/${member}`;
  return new FlagsError('invalid_patch', `The patch cannot be applied: ${path} ${message}.`, [{ message, path }]);
}

/** What cannot be written as JSON (cycles, nesting without end) is no patch. */
function copyOf<T>(value: T): T {
  try {
    return JSON.parse(JSON.stringify(value)) as T;
  } catch {
    throw new FlagsError('invalid_patch', 'The patch cannot be applied: it is nested too deeply, or in itself.');
  }
}
