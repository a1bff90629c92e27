import type { EventType } from '../api/events.js';

/** What a decision says has happened: enough to compute the new state from the old. Actor and time come later. */
export interface DomainEvent<Type extends EventType = EventType, Data = unknown, Before = unknown> {
  readonly type: Type;
  readonly environment?: string;
  readonly data: Data;
  readonly before: Before;
}
