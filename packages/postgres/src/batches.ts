import timers from 'node:timers';
import { isFlagsError } from '@flags/core';

/** Not the global one, which fake timers in a host's tests replace. */
const { setImmediate } = timers;

/**
 * Batches loads of the same turn of the event loop into one look-up, which begins after all of them.
 *
 * @param lookUp returns a function that finds the result for a key
 */
export function createBatchLoader<Key, Found>(
  lookUp: (keys: readonly Key[]) => Promise<(key: Key) => Found>,
): (key: Key) => Promise<Found> {
  let waiting: Key[] = [];
  let answer: Promise<(key: Key) => Found> | undefined;

  function begin(): Promise<(key: Key) => Found> {
    const keys = waiting;
    waiting = [];
    answer = undefined;
    return lookUp(keys);
  }

  return async (key) => {
    waiting.push(key);
    answer ??= new Promise<void>((resolve) => void setImmediate(resolve)).then(begin);
    return (await answer)(key);
  };
}

/** Collects items that are written together. */
export interface Batches<Item> {
  /** Resolves when the item is stored. Rejects if it is not, or with `outcome_unknown`. */
  add(item: Item): Promise<void>;
}

interface Waiting<Item> {
  readonly item: Item;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** The maximum items and rows of a batch. They bound the length of a statement, and the time to build it. */
const LARGEST_BATCH = 256;
const LARGEST_SIZE = 2000;

/**
 * Writes one batch at a time. Items that arrive meanwhile make the next one. `write` stores all items of a batch or none.
 * If the database refuses a batch, its items are written one by one, so that one bad item fails alone. A `FlagsError`
 * would hit every item, so it fails the batch.
 *
 * @param sizeOf about how many rows an item has; default 1
 */
export function createBatches<Item>(
  write: (items: readonly Item[]) => Promise<void>,
  sizeOf: (item: Item) => number = () => 1,
): Batches<Item> {
  const waiting: Waiting<Item>[] = [];
  let isDraining = false;

  async function drain(): Promise<void> {
    if (isDraining) return;
    isDraining = true;
    // Items of the same turn of the event loop belong to the first batch.
    await undefined;
    while (waiting.length > 0) await writeBatch(waiting.splice(0, lengthOfNext()));
    isDraining = false;
  }

  /** How many waiting items the next batch takes: at least one. */
  function lengthOfNext(): number {
    let size = 0;
    const end = waiting.findIndex(({ item }, index) => {
      const isFull = index === LARGEST_BATCH || size >= LARGEST_SIZE;
      size += sizeOf(item);
      return isFull;
    });
    return end === -1 ? waiting.length : end;
  }

  async function writeBatch(batch: readonly Waiting<Item>[]): Promise<void> {
    try {
      await write(batch.map(({ item }) => item));
      for (const { resolve } of batch) resolve();
    } catch (error) {
      if (batch.length > 1 && !isFlagsError(error)) {
        for (const one of batch) await writeBatch([one]);
        return;
      }
      for (const { reject } of batch) reject(error);
    }
  }

  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        void drain();
      }),
  };
}
