/** Something that becomes due by time. The runner knows no more of it. */
export interface DueSource<Item = unknown> {
  /** For reports of errors: 'change requests', 'rollouts'. */
  readonly name: string;
  /** `run` may be called while an earlier call has not ended: it leaves out what that one is still doing. Default: not. */
  readonly isConcurrent?: boolean;
  /** When something is due next, in milliseconds since 1970; Infinity if nothing is known to be. Read after each run. */
  nextAt(): number;
  /** Does what is due. Rejects if the storage fails: the rest waits for the next poll. */
  run(now: number): Promise<readonly Item[]>;
  /** Ends what time has ended, and deletes what ended long ago: on every engine that polls, also one that runs nothing. */
  tidy?(now: number): Promise<void>;
  counts(now: number): DueCounts;
}

export interface DueCounts {
  /** The number of items that wait for their time. */
  readonly pending: number;
  /** Those that have been due for more than two polls. */
  readonly overdue: number;
  /** Those that wait for another process, because this one may not decide about them. Absent: none. */
  readonly unguarded?: number;
}
