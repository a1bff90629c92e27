/** Items that become due at a time, such as change requests. The runner knows nothing else of them. */
export interface DueSource<Item = unknown> {
  /** For reports of errors: 'change requests', 'rollouts'. */
  readonly name: string;
  /**
   * Whether `run` may be called while an earlier call has not ended. It then leaves out the items of that call.
   * Default: false.
   */
  readonly isConcurrent?: boolean;
  /** When the next item is due, in milliseconds since 1970; Infinity if none is known. Read after each run. */
  nextAt(): number;
  /** Does what is due. Rejects if the storage fails: the rest waits for the next poll. */
  run(now: number): Promise<readonly Item[]>;
  /**
   * Ends expired items, and deletes items that ended long ago. Called in every engine that polls, even if it runs
   * nothing.
   */
  tidy?(now: number): Promise<void>;
  counts(now: number): DueCounts;
}

export interface DueCounts {
  /** The number of items that wait for their time. */
  readonly pending: number;
  /** The number of items that have been due for more than two polls. */
  readonly overdue: number;
  /** The number of items that only another process can decide. Absent: none. */
  readonly unguarded?: number;
}
