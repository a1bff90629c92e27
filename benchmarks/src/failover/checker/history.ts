/*
 * This file has the types of what the checker reads: the log of the clients, and the state at the end of a round. The checker
 * imports nothing from the library, so that a fault of the library cannot hide in the checker.
 *
 * Times are nanoseconds of the machine's monotonic clock, the same for all processes, as numbers.
 */

/** One attempt of a change set. It writes the same value to each of its flags. */
export interface Attempt {
  readonly kind: 'change';
  readonly node: string;
  /** The id of the change set. Repetitions have the same one. */
  readonly id: string;
  readonly flags: readonly string[];
  readonly start: number;
  readonly end: number;
  /** `failed`: the client was told that nothing has changed. */
  readonly outcome: 'ok' | 'failed' | 'unknown';
  /** Error code of an attempt without success. */
  readonly code?: string;
  /** By flag, of a success. */
  readonly revisions?: Readonly<Record<string, number>>;
}

/** A read of one flag from the store. The value is the id of the change set that wrote it; '' before the first. */
export interface Read {
  readonly kind: 'read';
  readonly node: string;
  readonly flag: string;
  readonly start: number;
  readonly end: number;
  readonly revision: number;
  readonly value: string;
}

/** An evaluation of all flags on one state. */
export interface View {
  readonly kind: 'view';
  readonly node: string;
  readonly time: number;
  readonly values: Readonly<Record<string, string>>;
  /** Whether it is the last view of its node, taken after the node had time to catch up. */
  readonly isLast?: boolean;
}

/** An evaluation that threw. */
export interface EvaluationFailure {
  readonly kind: 'evaluation-failed';
  readonly node: string;
  readonly time: number;
  readonly error: string;
}

/** A subscription began after this event of the log, or at its beginning. */
export interface Subscription {
  readonly kind: 'subscribed';
  readonly node: string;
  readonly time: number;
  /** The `key` of an event; undefined at the beginning. */
  readonly after?: string;
}

/** An event arrived at the node's subscriber. */
export interface Delivery {
  readonly kind: 'event';
  readonly node: string;
  readonly time: number;
  readonly key: string;
}

/** The node said that the store has lost events which it had seen. */
export interface Reset {
  readonly kind: 'reset';
  readonly node: string;
  readonly time: number;
  /** Who was told: the evaluation of the node, or its subscriber, which goes on after this event. */
  readonly of: 'evaluation' | 'subscriber';
  readonly after?: string;
}

export type Entry = Attempt | Read | View | EvaluationFailure | Subscription | Delivery | Reset;

/** An event of the store, read with SQL. */
export interface LoggedEvent {
  /** Identifies the event: its id and change set. */
  readonly key: string;
  readonly id: string;
  readonly flag: string;
  readonly revision: number;
}

/** A document of the store, read with SQL. */
export interface FinalFlag {
  readonly flag: string;
  readonly revision: number;
  readonly value: string;
}

export interface History {
  readonly entries: readonly Entry[];
  /** In the order of the feed. */
  readonly events: readonly LoggedEvent[];
  readonly flags: readonly FinalFlag[];
}

/** Parses JSON lines. A last line without an end belongs to a process that was killed. */
export function parseEntries(text: string): Entry[] {
  const lines = text.split('\n');
  lines.pop();
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Entry);
}

/** A broken rule. The entries are the smallest number that shows it. */
export interface Violation {
  readonly rule: Rule;
  readonly message: string;
  readonly evidence: readonly (Entry | LoggedEvent | FinalFlag)[];
}

export type Rule =
  | 'acknowledged change lost'
  | 'failed change happened'
  | 'outcome not resolved'
  | 'revision twice'
  | 'half a change set'
  | 'not linearizable'
  | 'view goes back'
  | 'view of nothing'
  | 'node stays behind'
  | 'event lost, doubled or out of order'
  | 'evaluation interrupted';
