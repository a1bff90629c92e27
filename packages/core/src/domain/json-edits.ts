import jsonpatch, { type Operation } from 'fast-json-patch';
import { childOf, parsePointer } from './json-pointer.js';

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
