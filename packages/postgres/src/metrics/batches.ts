import { isFlagsError } from '@flags/core';

/** Items that wait for each other, to be written together. */
export interface Batches<Item> {
  /** Resolves when the item has been written; rejects when it has not been, or when nobody knows. */
  add(item: Item): Promise<void>;
}

interface Waiting<Item> {
  readonly item: Item;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Bound how long a statement becomes, and how long it takes to make it. */
const LARGEST_BATCH = 256;
const LARGEST_SIZE = 2000;

/**
 * Writes one batch at a time; what arrives meanwhile makes the next one. `write` writes all of a batch or nothing. An item
 * that the database refuses does not take the others of its batch with it.
 *
 * @param sizeOf how many rows an item is, about
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
    // What arrives in the same turn of the event loop is of the first batch too.
    await undefined;
    while (waiting.length > 0) await settle(waiting.splice(0, lengthOfNext()));
    isDraining = false;
  }

  /** How many of those that wait are in the next batch: at least one. */
  function lengthOfNext(): number {
    let size = 0;
    const end = waiting.findIndex(({ item }, index) => {
      const isFull = index === LARGEST_BATCH || size >= LARGEST_SIZE;
      size += sizeOf(item);
      return isFull;
    });
    return end === -1 ? waiting.length : end;
  }

  async function settle(batch: readonly Waiting<Item>[]): Promise<void> {
    try {
      await write(batch.map(({ item }) => item));
      for (const { resolve } of batch) resolve();
    } catch (error) {
      if (batch.length > 1 && !isFlagsError(error)) {
        for (const one of batch) await settle([one]);
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
