/**
 * A fact that a decision returns: enough to compute the new state from the old one. The commit adds actor and time.
 */
export interface DomainEvent<Type extends string = string, Data = unknown, Before = unknown> {
  readonly type: Type;
  readonly environment?: string;
  readonly data: Data;
  readonly before: Before;
}
