import type { Settings } from '../api/engine.js';
import type { ChangeContext } from '../api/refs.js';
import type { Awaitable } from '../awaitable.js';
import type { DomainEvent } from '../domain/domain-event.js';
import type { Live } from '../live/open-live.js';
import type { MetricsStorage } from '../metrics/port.js';
import type { Storage } from '../storage/port.js';
import type { Validators } from '../validation/validators.js';
import type { Versioned } from './aggregate.js';
import type { Change } from './change.js';
import type { Feed } from './feed.js';
import type { MetricsRetention } from './metrics-retention.js';
import type { Read } from './reader.js';

/** What operations are made from: one for every actor, over the same storage and feed. */
export interface Engine {
  readonly settings: Settings;
  readonly validate: Validators;
  readonly storage: Storage;
  readonly metrics: MetricsStorage;
  readonly retention: MetricsRetention;
  readonly feed: Feed;
  readonly live: Live;
  readonly read: Read;
  /** Carries a change out, attributed to the engine's actor unless the context names another. */
  readonly change: <State, Event extends DomainEvent>(
    change: UnattributedChange<State, Event>,
  ) => Promise<Versioned<State> | undefined>;
  readonly now: () => Date;
  readonly newId: () => string;
  readonly isUser: (userId: number) => Awaitable<boolean>;
}

export interface UnattributedChange<State, Event extends DomainEvent> extends Omit<Change<State, Event>, 'context'> {
  readonly context: ChangeContext | undefined;
}
