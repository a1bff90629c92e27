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

/** Bounds how long a statement becomes. */
const LARGEST_BATCH = 256;

/**
 * Writes one batch at a time; what arrives meanwhile makes the next one. `write` writes all of a batch or nothing. An item
 * that the database refuses does not take the others of its batch with it.
 */
export function createBatches<Item>(write: (items: readonly Item[]) => Promise<void>): Batches<Item> {
  const waiting: Waiting<Item>[] = [];
  let isDraining = false;

  async function drain(): Promise<void> {
    if (isDraining) return;
    isDraining = true;
    // What arrives in the same turn of the event loop is of the first batch too.
    await undefined;
    while (waiting.length > 0) await settle(waiting.splice(0, LARGEST_BATCH));
    isDraining = false;
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
