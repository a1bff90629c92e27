import type { Storage } from '../../storage/port.js';

/**
 * Declares one rule. `body` gets an empty storage, and a way to open another instance on the same data, which gives
 * undefined where there can be none.
 */
export type Rule = (
  statement: string,
  body: (storage: Storage, again: () => Promise<Storage | undefined>) => Promise<void>,
) => void;
