/** How long, in milliseconds, the server waits for its clients. */
export interface Timeouts {
  /** For the whole head of a request. */
  readonly head: number;
  /** For the whole request, its body included. */
  readonly request: number;
  /**
   * Without any byte in either direction, as with a client that does not read its response. Streams send heartbeats
   * more often.
   */
  readonly silence: number;
  /** Between two checks for late heads and requests. */
  readonly check: number;
}

export const TIMEOUTS: Timeouts = { head: 15_000, request: 30_000, silence: 60_000, check: 5_000 };
