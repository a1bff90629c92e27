/** How long, in milliseconds, the server waits for its clients. */
export interface Timeouts {
  /** For the whole head of a request. */
  readonly head: number;
  /** For the whole request, its body included. */
  readonly request: number;
  /** For any byte to move, either way: for a client that does not read its answer. Streams show signs of life more often. */
  readonly silence: number;
  /** Between two looks at the heads and requests that are late. */
  readonly check: number;
}

export const TIMEOUTS: Timeouts = { head: 15_000, request: 30_000, silence: 60_000, check: 5_000 };
