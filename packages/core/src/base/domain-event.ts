/**
 * A fact that a decision returns: enough to compute the new state from the old one. The commit adds actor and time.
 */
export interface DomainEvent<Type extends string = string, Data = unknown, Before = unknown> {
  readonly type: Type;
  readonly environment?: string;
  readonly data: Data;
  readonly before: Before;
  /** Adds a few bytes only, though other events of its type may add more: no size limit refuses it. Not stored. */
  readonly shrinks?: true;
}
