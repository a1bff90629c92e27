import type { Storage } from '../../src/storage/port.js';

export interface BreakableStorage {
  readonly storage: Storage;
  /** What reading and writing fail with from now on; undefined: they work again. */
  failWith(error: Error | undefined): void;
  /** How many calls have failed. */
  failures(): number;
}

/** A storage whose disk can be pulled out, and put back in. */
export function breakable(storage: Storage): BreakableStorage {
  let failure: Error | undefined;
  let failures = 0;
  const working = (): Storage => {
    if (!failure) return storage;
    failures++;
    throw failure;
  };
  return {
    storage: {
      get: (key) => working().get(key),
      list: (query) => working().list(query),
      commit: (commit) => working().commit(commit),
      events: (query) => working().events(query),
      close: () => storage.close(),
    },
    failWith: (error) => {
      failure = error;
    },
    failures: () => failures,
  };
}
