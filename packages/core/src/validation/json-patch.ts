import jsonpatch, { type Operation } from 'fast-json-patch';
import type { JsonPatch, JsonPatchOperation } from '../common.types.js';
import { FlagsError } from '../errors.js';
import { isSameJson } from './json.js';
import { LIMITS } from './limits.js';

const ARRAY_INDEX = /^(?:0|[1-9]\d*)$/;

/** The reference tokens of a JSON Pointer (RFC 6901), unescaped; none for the whole document. */
export function parsePointer(pointer: string): readonly string[] {
  return pointer.split('/').slice(1).map(unescapeToken);
}

/** The top-level member that a JSON Pointer leads through; '' for the whole document. */
export function topMember(pointer: string): string {
  return parsePointer(pointer)[0] ?? '';
}

/**
 * Says what is missing where a JSON Pointer leads: `existing` wants the target itself, `insertable` a place where it can
 * be put. Only own members count, and array indexes have no leading zeros. Undefined when nothing is missing.
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

/** The member or item of a container that has it. */
export function childOf(container: unknown, token: string): unknown {
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
  // Nearly all have nothing to unescape, and a patch may have half a million of them.
  return token.includes('~') ? token.replaceAll('~1', '/').replaceAll('~0', '~') : token;
}

/*
 * Changes of a JSON document in place, by fast-json-patch. It would take inherited members for the document's own, so what
 * it is given are bare documents, whose objects inherit nothing: `__proto__` is a member like any other there. That there is
 * a place where the JSON Pointer leads has been found out before, by `findMissingTarget`.
 */

// What applyOperation takes after the operation: `validateOperation`, `mutateDocument`, `banPrototypeModifications`.
const VALIDATED_BEFORE = false;
const IN_PLACE = true;
const PROTOTYPES_OUT_OF_REACH = false;

/** A copy of a JSON value, as JSON keeps it, whose objects inherit nothing. */
export function bareCopy<T>(value: T): T {
  return toBare(JSON.parse(JSON.stringify(value))) as T;
}

/** In place but for the objects. A reviver for `JSON.parse` takes ten times as long, as it is called for every text in a list. */
function toBare(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      if (typeof value[at] === 'object') value[at] = toBare(value[at]);
    }
    return value;
  }
  const bare: Record<string, unknown> = Object.create(null);
  for (const [name, member] of Object.entries(value)) bare[name] = toBare(member);
  return bare;
}

/** The value at a place that exists. */
export function valueAt(document: object, pointer: string): unknown {
  return parsePointer(pointer).reduce<unknown>(childOf, document);
}

/** Sets a member of an object; puts an item into an array before the one at the index, or at the end for `-`. */
export function insertAt(document: object, path: string, value: unknown): void {
  apply(document, { op: 'add', path, value });
}

export function replaceAt(document: object, path: string, value: unknown): void {
  apply(document, { op: 'replace', path, value });
}

export function removeAt(document: object, path: string): void {
  apply(document, { op: 'remove', path });
}

function apply(document: object, operation: Operation): void {
  const settings = [VALIDATED_BEFORE, IN_PLACE, PROTOTYPES_OUT_OF_REACH] as const;
  jsonpatch.applyOperation(document, operation, ...settings);
}

/** Refuses an operation because of one of its members. */
export function patchRefusal(index: number, member: 'path' | 'from' | 'value', message: string): FlagsError {
  const path = `/${index}/${member}`;
  return new FlagsError('invalid_patch', `The patch cannot be applied: ${path} ${message}.`, [{ message, path }]);
}

export function testFailure(index: number): FlagsError {
  const message = `The test in operation ${index} of the patch does not hold; read the current state and try again.`;
  return new FlagsError('patch_test_failed', message, [{ message: 'does not hold', path: `/${index}` }]);
}

/** Runs what recurses through a value; one that has no end, or none within the stack, is no JSON and no patch. */
export function unlessTooDeep<T>(work: () => T): T {
  try {
    return work();
  } catch {
    throw new FlagsError('invalid_patch', 'The patch cannot be applied: it is nested too deeply, or in itself.');
  }
}

/** Which top-level members of a document a patch may touch. */
export interface PatchScope {
  /** Members that it changes; every place of the document when absent. */
  readonly changeable?: readonly string[];
  /** Members that can be tested and copied from, while changes to them are left out without a word. */
  readonly kept?: readonly string[];
}

/** The operation as it is carried out within the scope; undefined when it would only change what is kept. */
export function effectiveOperation(
  operation: JsonPatchOperation,
  index: number,
  scope: PatchScope,
): JsonPatchOperation | undefined {
  assertInScope(operation.path, { index, member: 'path', scope });
  if ('from' in operation) assertInScope(operation.from, { index, member: 'from', scope });
  if (operation.op !== 'test' && isKept(operation.path, scope)) return undefined;
  if (operation.op === 'move' && isKept(operation.from, scope)) return { ...operation, op: 'copy' };
  return operation;
}

function isKept(pointer: string, { kept = [] }: PatchScope): boolean {
  return kept.includes(topMember(pointer));
}

function assertInScope(
  pointer: string,
  { index, member, scope }: { index: number; member: 'path' | 'from'; scope: PatchScope },
): void {
  if (scope.changeable === undefined) return;
  if (scope.changeable.includes(topMember(pointer)) || isKept(pointer, scope)) return;
  const place = pointer === '' ? 'the whole document' : pointer;
  const places = scope.changeable.map((name) => `/${name}`).join(', ');
  throw patchRefusal(index, member, `leads to ${place}; a patch may change ${places}`);
}

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
