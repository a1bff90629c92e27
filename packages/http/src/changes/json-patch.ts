import { type ErrorDetail, FlagsError } from '@flags/core';
import { cloneJson, cloneWithoutPrototypes, isSameJson } from '@flags/core/integration/http';
import type { JsonSchema } from '@flags/core/integration/shared';
import { createValidator } from '@flags/core/integration/shared';
import jsonpatch, { type Operation, type Validator } from 'fast-json-patch';
import * as compiled from '../compiled-schemas.js';
import { ROUTER_LIMITS } from '../limits.js';

/** One operation of a JSON Patch (RFC 6902). `path` and `from` are JSON Pointers. */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly from: string; readonly path: string };

/** A JSON Patch: all operations are applied in order, or none. */
export type JsonPatch = readonly JsonPatchOperation[];

const pointer: JsonSchema = {
  type: 'string',
  // The bound is a part of the pattern, so that a long text is not matched.
  pattern: `^(?![\\s\\S]{${ROUTER_LIMITS.patchPointer + 1}})(?:/(?:[^~/]|~[01])*)*$`,
  description: `a JSON Pointer of at most ${ROUTER_LIMITS.patchPointer} characters: empty, or starting with /, with ~ only as ~0 or ~1`,
};

const jsonPatch: JsonSchema = {
  type: 'array',
  maxItems: ROUTER_LIMITS.patchOperations,
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

/** A body that is a JSON Patch. The handler validates it. */
export const JSON_PATCH = { schema: jsonPatch, checkedBy: 'core' } as const;

/** Each operation needs its operand: `value` or `from`. */
function findPatchIssues(patch: JsonPatch): readonly ErrorDetail[] {
  return patch.flatMap((operation, index) => {
    const operand = operandOf(operation.op);
    if (operand === undefined || Object.hasOwn(operation, operand)) return [];
    return [{ message: `is required for ${operation.op}`, path: `/${index}/${operand}` }];
  });
}

/**
 * Returns a patch that is well-formed. Its values are not validated.
 *
 * @throws FlagsError `invalid_input`
 */
export const readPatch = createValidator<JsonPatch>(compiled.jsonPatch, findPatchIssues);

function operandOf(op: JsonPatch[number]['op']): 'value' | 'from' | undefined {
  if (op === 'remove') return undefined;
  return op === 'move' || op === 'copy' ? 'from' : 'value';
}

/** Returns the unescaped reference tokens of a JSON Pointer (RFC 6901); none for the whole document. */
export function parsePointer(pointer: string): readonly string[] {
  return pointer.split('/').slice(1).map(unescapeToken);
}

/** Returns the top-level member that a JSON Pointer refers to; '' for the whole document. */
export function topMember(pointer: string): string {
  return parsePointer(pointer)[0] ?? '';
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
    throw new FlagsError('invalid_patch', 'The patch cannot be applied: it is nested too deeply or contains itself.');
  }
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
  readonly document?: unknown;
}

/** An operation of the library that reads or changes one place. */
interface Step {
  readonly op: 'add' | 'replace' | 'remove' | '_get';
  readonly path: string;
  readonly value?: unknown;
}

/** The member of a patch operation that has a pointer. */
interface Reference {
  readonly index: number;
  readonly member: 'path' | 'from';
}

/**
 * Applies a JSON Patch (RFC 6902) to a copy of the document: all operations or none. Only own members count: the copy has
 * no prototypes, so `__proto__` is an ordinary member. A patch that removes the whole document returns null.
 *
 * @throws FlagsError `invalid_patch` with the operation, `patch_test_failed`
 */
export function applyPatch(document: unknown, patch: JsonPatch, scope: PatchScope): unknown {
  const root = withoutText({ document: copyOf(document) });
  let copied = 0;
  for (const [index, operation] of copyOf(patch).entries()) {
    const effective = effectiveOperation(operation, index, scope);
    // The copy of the patch has lost values that JSON cannot express, such as functions.
    if (effective && operandOf(effective.op) === 'value' && !('value' in effective)) {
      throw invalidPatch(index, 'value', 'is required, as JSON');
    }
    if (effective) copied += applyOne(root, effective, index);
    if (copied > ROUTER_LIMITS.patchCopies)
      throw invalidPatch(index, 'path', 'copies more than a patch is allowed to copy');
  }
  return withDepthGuard(() => cloneJson(root.document ?? null));
}

/**
 * Applies one operation. Returns the number of characters of JSON that it copied. The library's own `test`, `copy` and
 * `move` fail for objects without prototypes or members named `__proto__`, and clone the whole document.
 */
function applyOne(root: Root, operation: JsonPatchOperation, index: number): number {
  const { op, path } = operation;
  const target = { index, member: 'path' } as const;
  if (op === 'test') {
    const actual = readIfPresent(root, path);
    if (!withDepthGuard(() => isSameJson(actual, operation.value))) throw patchTestFailed(index);
    return 0;
  }
  if (op !== 'move' && op !== 'copy') {
    applyStep(root, { ...operation, op }, target);
    return 0;
  }
  const { from } = operation;
  const isMove = op === 'move';
  if (isMove && path.startsWith(`${from}/`)) throw invalidPatch(index, 'path', 'lies inside the moved value');
  const source = applyStep(root, { op: isMove ? 'remove' : '_get', path: from }, { index, member: 'from' });
  const value = isMove ? source : copyOf(source);
  // After the removal, because the path refers to the document without the moved value.
  applyStep(root, { op: 'add', path, value }, target);
  return isMove ? 0 : JSON.stringify(value).length;
}

function readIfPresent(root: Root, path: string): unknown {
  try {
    return perform(root, { op: '_get', path });
  } catch {
    return undefined;
  }
}

/** Performs a step. Throws `invalid_patch` if its path has no target. */
function applyStep(root: Root, step: Step, { index, member }: Reference): unknown {
  try {
    return perform(root, step);
  } catch {
    throw invalidPatch(index, member, `points to nothing: there is no ${step.path}`);
  }
}

const INSERTION_INDEX = /\/(?:-|0|[1-9]\d{0,8})$/;
const IN_PLACE = true;
/** Not needed: neither documents nor values have prototypes. */
const BAN_PROTOTYPES = false;

/** Returns the value that the step reads or removes. Throws if its path has no target. */
function perform(root: Root, step: Step): unknown {
  const { op, path } = step;
  if (op === 'add' && path !== '' && !INSERTION_INDEX.test(path)) {
    // The library accepts an empty index, leading zeros, and numbers beyond 32 bits.
    const container = perform(root, { op: '_get', path: path.slice(0, path.lastIndexOf('/')) });
    if (Array.isArray(container)) throw new RangeError('not an index');
  }
  const operation = withoutText({ ...step, path: `/document${path}` }) as Operation;
  const { removed } = jsonpatch.applyOperation(root, operation, validatePath, IN_PLACE, BAN_PROTOTYPES);
  return operation.op === '_get' ? operation.value : removed;
}

/** The library's validation without the value, which is valid JSON and may be large. */
const validatePath: Validator<Root> = (operation, index, _root, existingPath) => {
  jsonpatch.validator({ ...operation, value: null } as Operation, index, {}, existingPath);
};

/** The library prints documents and operations in its errors, indented: megabytes of text if they are nested deeply. */
function withoutText<T extends object>(value: T): T {
  return Object.assign(value, { toJSON: () => undefined });
}

function copyOf<T>(value: T): T {
  return withDepthGuard(() => cloneWithoutPrototypes(value));
}
