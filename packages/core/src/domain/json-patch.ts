import type { JsonPatch, JsonPatchOperation } from '../api/json-patch.js';
import { LIMITS } from '../validation/limits.js';
import { bareCopy, insertAt, removeAt, replaceAt, valueAt } from './json-edits.js';
import { isSameJson } from './json-equality.js';
import { patchRefusal, testFailure, unlessTooDeep } from './json-patch-refusal.js';
import { effectiveOperation, type PatchScope } from './json-patch-scope.js';
import { findMissingTarget } from './json-pointer.js';

/** The document under a root, so that the whole of it is a place like any other. */
interface Root {
  document?: unknown;
}

/**
 * Applies a JSON Patch (RFC 6902) to a copy of the document, all operations or none. Only own members count, whatever
 * their names. A patch that removes the whole document leaves null.
 *
 * @throws FlagsError `invalid_patch` naming the operation, `patch_test_failed`
 */
export function applyPatch(document: unknown, patch: JsonPatch, scope: PatchScope): unknown {
  const root: Root = { document: copyOf(document) };
  let copied = 0;
  for (const [index, operation] of copyOf(patch).entries()) {
    const effective = effectiveOperation(operation, index, scope);
    if (effective) copied += carryOut(root, effective, index);
    if (copied > LIMITS.patchCopies) throw patchRefusal(index, 'path', 'copies more than a patch may');
  }
  return unlessTooDeep(() => JSON.parse(JSON.stringify(root.document ?? null)));
}

/** Carries one operation out; answers how much it has copied. */
function carryOut(root: Root, operation: JsonPatchOperation, index: number): number {
  switch (operation.op) {
    case 'copy':
      return copy(root, operation, index);
    case 'move':
      move(root, operation, index);
      return 0;
    case 'remove':
      remove(root, { pointer: operation.path, index, member: 'path' });
      return 0;
    default:
      giveValue(root, operation, index);
      return 0;
  }
}

function giveValue(root: Root, { op, path, value }: Extract<JsonPatchOperation, { value: unknown }>, index: number) {
  // What JSON cannot express, such as a function, is gone from the copied patch.
  if (value === undefined) throw patchRefusal(index, 'value', 'is required, as JSON');
  if (op === 'add') {
    insert(root, { path, value, index });
  } else if (op === 'replace') {
    take(root, { pointer: path, index, member: 'path' });
    replaceAt(root, inRoot(path), value);
  } else if (findMissingTarget(root, inRoot(path), 'existing') || !isSame(valueAt(root, inRoot(path)), value)) {
    throw testFailure(index);
  }
}

type Transfer = Extract<JsonPatchOperation, { from: string }>;

function copy(root: Root, { from, path }: Transfer, index: number): number {
  const value = take(root, { pointer: from, index, member: 'from' });
  insert(root, { path, value: copyOf(value), index });
  return JSON.stringify(value).length;
}

/** A removal and then an addition: the path counts in the document without what is moved. */
function move(root: Root, { from, path }: Transfer, index: number): void {
  if (path.startsWith(`${from}/`)) throw patchRefusal(index, 'path', 'lies inside of what is moved');
  insert(root, { path, value: remove(root, { pointer: from, index, member: 'from' }), index });
}

interface Source {
  readonly pointer: string;
  readonly index: number;
  readonly member: 'path' | 'from';
}

function take(root: Root, { pointer, index, member }: Source): unknown {
  const missing = findMissingTarget(root, inRoot(pointer), 'existing');
  if (missing) throw patchRefusal(index, member, missing);
  return valueAt(root, inRoot(pointer));
}

function remove(root: Root, source: Source): unknown {
  const value = take(root, source);
  removeAt(root, inRoot(source.pointer));
  return value;
}

function insert(root: Root, { path, value, index }: { path: string; value: unknown; index: number }): void {
  const missing = findMissingTarget(root, inRoot(path), 'insertable');
  if (missing) throw patchRefusal(index, 'path', missing);
  insertAt(root, inRoot(path), value);
}

function inRoot(pointer: string): string {
  return `/document${pointer}`;
}

function isSame(actual: unknown, expected: unknown): boolean {
  return unlessTooDeep(() => isSameJson(actual, expected));
}

function copyOf<T>(value: T): T {
  return unlessTooDeep(() => bareCopy(value));
}
