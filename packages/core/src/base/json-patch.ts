import { type ErrorDetail, FlagsError } from '../errors.js';
import type { JsonPatch, JsonPatchOperation } from './common.types.js';
import { cloneJson, cloneWithoutPrototypes, isSameJson } from './json.js';
import { LIMITS } from './limits.js';
import type { JsonSchema } from './primitives.js';

const pointer: JsonSchema = {
  type: 'string',
  pattern: '^(?:/(?:[^~/]|~[01])*)*$',
  description: 'a JSON Pointer: empty, or starting with /, with ~ only as ~0 or ~1',
};

export const jsonPatch: JsonSchema = {
  type: 'array',
  maxItems: LIMITS.patchOperations,
  items: {
    type: 'object',
    properties: {
      op: { type: 'string', enum: ['add', 'remove', 'replace', 'move', 'copy', 'test'] },
      path: pointer,
      from: pointer,
      value: {},
    },
    required: ['op', 'path'],
  },
};

/** Each operation needs its operand: `value` or `from`. */
export function findPatchIssues(patch: JsonPatch): readonly ErrorDetail[] {
  return patch.flatMap((operation, index) => {
    const operand = operandOf(operation.op);
    if (operand === undefined || Object.hasOwn(operation, operand)) return [];
    return [{ message: `is required for ${operation.op}`, path: `/${index}/${operand}` }];
  });
}

function operandOf(op: JsonPatch[number]['op']): 'value' | 'from' | undefined {
  if (op === 'remove') return undefined;
  return op === 'move' || op === 'copy' ? 'from' : 'value';
}

const ARRAY_INDEX = /^(?:0|[1-9]\d*)$/;

/** Returns the unescaped reference tokens of a JSON Pointer (RFC 6901); none for the whole document. */
export function parsePointer(pointer: string): readonly string[] {
  return pointer.split('/').slice(1).map(unescapeToken);
}

/** Returns the top-level member that a JSON Pointer refers to; '' for the whole document. */
export function topMember(pointer: string): string {
  return parsePointer(pointer)[0] ?? '';
}

/**
 * Describes why a JSON Pointer has no target: `existing` requires the target, `insertable` a container that can take
 * it. Only own members count, and array indexes have no leading zeros. Returns undefined if the target is valid.
 */
export function findMissingTarget(
  document: unknown,
  pointer: string,
  target: 'existing' | 'insertable',
): string | undefined {
  const tokens = [...parsePointer(pointer)];
  const last = tokens.pop();
  if (last === undefined) return undefined;
  let container = document;
  for (const token of tokens) {
    if (!hasChild(container, token)) return `leads nowhere: there is no ${token}`;
    container = childOf(container, token);
  }
  const found = target === 'existing' ? hasChild(container, last) : canInsert(container, last);
  return found ? undefined : `leads nowhere: there is no place ${last}`;
}

/** Returns a member or item that exists. */
function childOf(container: unknown, token: string): unknown {
  return (container as Readonly<Record<string, unknown>>)[token];
}

function hasChild(container: unknown, token: string): boolean {
  if (Array.isArray(container)) return ARRAY_INDEX.test(token) && Number(token) < container.length;
  return isObject(container) && Object.hasOwn(container, token);
}

function canInsert(container: unknown, token: string): boolean {
  if (!Array.isArray(container)) return isObject(container);
  return token === '-' || (ARRAY_INDEX.test(token) && Number(token) <= container.length);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function unescapeToken(token: string): string {
  // Most tokens need no unescaping, and a patch may have half a million of them.
  return token.includes('~') ? token.replaceAll('~1', '/').replaceAll('~0', '~') : token;
}

/** Creates the error for a member of an operation. */
function invalidPatch(index: number, member: 'path' | 'from' | 'value', message: string): FlagsError {
  const path = `/${index}/${member}`;
  return new FlagsError('invalid_patch', `The patch cannot be applied: ${path} ${message}.`, [{ message, path }]);
}

function patchTestFailed(index: number): FlagsError {
  const message = `The test in operation ${index} of the patch does not hold; read the current state and try again.`;
  return new FlagsError('patch_test_failed', message, [{ message: 'does not hold', path: `/${index}` }]);
}

/**
 * Runs work that recurses through a value. A cyclic or too deeply nested value exhausts the stack, and is an
 * `invalid_patch`.
 */
function withDepthGuard<T>(work: () => T): T {
  try {
    return work();
  } catch {
    throw new FlagsError('invalid_patch', 'The patch cannot be applied: it is nested too deeply, or in itself.');
  }
}

/** Copies a patch. Guards the depth, because the values of a patch are not validated. */
export function clonePatch(patch: JsonPatch): JsonPatch {
  return withDepthGuard(() => cloneJson(patch));
}

/** The top-level members that a patch may use. */
interface PatchScope {
  /** Members that the patch may change. Default: the whole document. */
  readonly changeable?: readonly string[];
  /** Members that the patch may test and copy. Changes to them are ignored. */
  readonly readOnly?: readonly string[];
}

/** Returns the operation to apply within the scope, or undefined if it would only change read-only members. */
function effectiveOperation(
  operation: JsonPatchOperation,
  index: number,
  scope: PatchScope,
): JsonPatchOperation | undefined {
  assertInScope(operation.path, { index, member: 'path', scope });
  if ('from' in operation) assertInScope(operation.from, { index, member: 'from', scope });
  if (operation.op !== 'test' && isReadOnly(operation.path, scope)) return undefined;
  if (operation.op === 'move' && isReadOnly(operation.from, scope)) return { ...operation, op: 'copy' };
  return operation;
}

function isReadOnly(pointer: string, { readOnly = [] }: PatchScope): boolean {
  return readOnly.includes(topMember(pointer));
}

function assertInScope(
  pointer: string,
  { index, member, scope }: { index: number; member: 'path' | 'from'; scope: PatchScope },
): void {
  if (scope.changeable === undefined) return;
  if (scope.changeable.includes(topMember(pointer)) || isReadOnly(pointer, scope)) return;
  const place = pointer === '' ? 'the whole document' : pointer;
  const places = scope.changeable.map((name) => `/${name}`).join(', ');
  throw invalidPatch(index, member, `leads to ${place}; a patch may change ${places}`);
}

/** Holds the document as a member, so that a pointer to the whole document needs no special case. */
interface Root {
  document?: unknown;
}

/**
 * Applies a JSON Patch (RFC 6902) to a copy of the document: all operations or none. Only own members count: the copy has
 * no prototypes, so `__proto__` is an ordinary member. A patch that removes the whole document returns null.
 *
 * @throws FlagsError `invalid_patch` with the operation, `patch_test_failed`
 */
export function applyPatch(document: unknown, patch: JsonPatch, scope: PatchScope): unknown {
  const root: Root = { document: copyOf(document) };
  let copied = 0;
  for (const [index, operation] of copyOf(patch).entries()) {
    const effective = effectiveOperation(operation, index, scope);
    // The copy of the patch has lost values that JSON cannot express, such as functions.
    if (effective && operandOf(effective.op) === 'value' && !('value' in effective)) {
      throw invalidPatch(index, 'value', 'is required, as JSON');
    }
    if (effective) copied += applyOne(root, effective, index);
    if (copied > LIMITS.patchCopies) throw invalidPatch(index, 'path', 'copies more than a patch may');
  }
  return withDepthGuard(() => cloneJson(root.document ?? null));
}

/** Applies one operation. Returns the number of characters of JSON that it copied. */
function applyOne(root: Root, operation: JsonPatchOperation, index: number): number {
  const { op, path } = operation;
  switch (op) {
    case 'test':
      if (!isSameAt(root, path, operation.value)) throw patchTestFailed(index);
      return 0;
    case 'add':
      insert(locate(root, path, { index, member: 'path', target: 'insertable' }), operation.value);
      return 0;
    case 'replace':
      replace(locate(root, path, { index, member: 'path', target: 'existing' }), operation.value);
      return 0;
    case 'remove':
      remove(locate(root, path, { index, member: 'path', target: 'existing' }));
      return 0;
  }
  const { from } = operation;
  const isMove = op === 'move';
  if (isMove && path.startsWith(`${from}/`)) throw invalidPatch(index, 'path', 'lies inside of what is moved');
  const source = locate(root, from, { index, member: 'from', target: 'existing' });
  const value = isMove ? remove(source) : copyOf(valueAt(source));
  // After the removal, because the path refers to the document without the moved value.
  insert(locate(root, path, { index, member: 'path', target: 'insertable' }), value);
  return isMove ? 0 : JSON.stringify(value).length;
}

/** A member of an object, or an item of an array. */
interface Place {
  readonly container: unknown;
  readonly key: string;
}

/** Returns the place of a pointer. Throws `invalid_patch` if the pointer has no target. */
function locate(
  root: Root,
  pointer: string,
  { index, member, target }: { index: number; member: 'path' | 'from'; target: 'existing' | 'insertable' },
): Place {
  const missing = findMissingTarget(root, inRoot(pointer), target);
  if (missing) throw invalidPatch(index, member, missing);
  return placeOf(root, pointer);
}

function placeOf(root: Root, pointer: string): Place {
  const tokens = [...parsePointer(inRoot(pointer))];
  const key = tokens.pop() ?? '';
  return { container: tokens.reduce<unknown>(childOf, root), key };
}

function inRoot(pointer: string): string {
  return `/document${pointer}`;
}

function valueAt({ container, key }: Place): unknown {
  return childOf(container, key);
}

function replace({ container, key }: Place, value: unknown): void {
  (container as Record<string, unknown>)[key] = value;
}

/** Inserts before an index, or at the end for `-`. Replaces a member that exists. */
function insert(place: Place, value: unknown): void {
  const { container, key } = place;
  if (Array.isArray(container)) container.splice(key === '-' ? container.length : Number(key), 0, value);
  else replace(place, value);
}

function remove(place: Place): unknown {
  const { container, key } = place;
  const value = valueAt(place);
  if (Array.isArray(container)) container.splice(Number(key), 1);
  else delete (container as Record<string, unknown>)[key];
  return value;
}

function isSameAt(root: Root, pointer: string, expected: unknown): boolean {
  if (findMissingTarget(root, inRoot(pointer), 'existing')) return false;
  return withDepthGuard(() => isSameJson(valueAt(placeOf(root, pointer)), expected));
}

function copyOf<T>(value: T): T {
  return withDepthGuard(() => cloneWithoutPrototypes(value));
}
