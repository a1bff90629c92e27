import { HttpError } from '../messages/errors.js';

/** Requests in one second, of one caller, that name an unknown token. */
const PER_SECOND = 10;
const SECOND = 1000;

/** Counts the requests that name unknown tokens. */
export interface UnknownTokens {
  /** @throws HttpError `overloaded` for the eleventh request of a caller within a second */
  admit(caller: string): void;
}

/** Limits how often a caller names unknown tokens. Does not count requests that name known tokens only. */
export function createUnknownTokens(): UnknownTokens {
  let counts = new Map<string, number>();
  let started = Number.NEGATIVE_INFINITY;
  return {
    admit(caller) {
      const now = performance.now();
      if (now - started >= SECOND) {
        started = now;
        counts = new Map();
      }
      const count = (counts.get(caller) ?? 0) + 1;
      counts.set(caller, count);
      if (count <= PER_SECOND) return;
      const message = `More than ${PER_SECOND} requests in a second have named unknown tokens. Send known ones alone, or wait.`;
      throw new HttpError('overloaded', message, { 'retry-after': '1' });
    },
  };
}
