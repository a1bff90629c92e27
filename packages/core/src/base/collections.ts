import { FlagsError } from './errors.js';

/*
 * Texts in code-point order, groups of items, and sets of listeners.
 */

/**
 * Compares text by Unicode code points, like databases that store UTF-8. JavaScript's `<` compares UTF-16 units, and so
 * sorts U+10000 and above (surrogate pairs) before U+E000–U+FFFF.
 */
export function compareCodePoints(a: string, b: string): number {
  const shared = Math.min(a.length, b.length);
  for (let at = 0; at < shared; at++) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left !== right) return codePointRank(left) - codePointRank(right);
  }
  return a.length - b.length;
}

/** Ranks surrogates after all other UTF-16 units. */
function codePointRank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/** Groups items by key. Groups and items keep the order of their first appearance. */
export function groupBy<Key, Item>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

/** A set of listeners. A function that is added twice is called twice. */
export interface Listeners<Message> {
  /**
   * @returns a function that removes the listener; repeated calls have no effect
   * @throws FlagsError `invalid_input` if the listener is not a function
   */
  add(listener: (message: Message) => void): () => void;
  /** Calls all listeners. Passes the errors of listeners to `onError`, and calls the remaining listeners. */
  notify(message: Message): void;
}

export function createListeners<Message>(onError: (error: unknown) => void): Listeners<Message> {
  const listeners = new Map<symbol, (message: Message) => void>();
  return {
    add(listener) {
      assertListener(listener);
      const key = Symbol('listener');
      listeners.set(key, listener);
      return () => void listeners.delete(key);
    },
    notify(message) {
      for (const listener of listeners.values()) {
        try {
          listener(message);
        } catch (error) {
          onError(error);
        }
      }
    },
  };
}

/**
 * Throws `invalid_input` unless the listener is a function. Otherwise the mistake would show at the first message only.
 */
export function assertListener(listener: unknown): void {
  if (typeof listener !== 'function') throw new FlagsError('invalid_input', 'A listener must be a function.');
}
