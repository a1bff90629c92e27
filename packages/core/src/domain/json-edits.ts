import { childOf, parsePointer } from './json-pointer.js';

/*
 * Changes of a JSON document in place. That there is a place where the JSON Pointer leads has been found out before, by
 * `findMissingTarget`. Pointers lead to something within the document, never to the whole.
 */

/** The value at a place that exists. */
export function valueAt(document: object, pointer: string): unknown {
  return parsePointer(pointer).reduce<unknown>(childOf, document);
}

/** Sets a member of an object; puts an item into an array before the one at the index, or at the end for `-`. */
export function insertAt(document: object, pointer: string, value: unknown): void {
  const { container, token } = placeOf(document, pointer);
  if (!Array.isArray(container)) setMember(container, token, value);
  else container.splice(token === '-' ? container.length : Number(token), 0, value);
}

export function replaceAt(document: object, pointer: string, value: unknown): void {
  const { container, token } = placeOf(document, pointer);
  setMember(container, token, value);
}

export function removeAt(document: object, pointer: string): void {
  const { container, token } = placeOf(document, pointer);
  if (Array.isArray(container)) container.splice(Number(token), 1);
  else Reflect.deleteProperty(container, token);
}

function placeOf(document: object, pointer: string): { readonly container: object; readonly token: string } {
  const tokens = [...parsePointer(pointer)];
  const token = tokens.pop() ?? '';
  return { container: tokens.reduce<unknown>(childOf, document) as object, token };
}

/** An assignment would not do: to `__proto__` it sets the prototype. */
function setMember(container: object, name: string, value: unknown): void {
  Object.defineProperty(container, name, { value, configurable: true, enumerable: true, writable: true });
}
