import type { Awaitable, ChangeContext } from '../common.types.js';
import type { DomainEvent } from '../events/event.types.js';
import type { Feed } from '../events/feed.js';
import type { Settings } from '../flags.js';
import type { MetricsRetention } from '../metrics/retention.js';
import type { Replica } from '../replica/replica.js';
import type { MetricsStorage } from '../storage/metrics-port.js';
import type { Storage } from '../storage/port.js';
import type { Token } from '../tokens/token.types.js';
import type { Validators } from '../validators.js';
import type { Versioned } from './aggregate.js';
import type { Change } from './command-runner.js';
import type { Read } from './reader.js';

/** What operations are made from: one for every actor, over the same storage and feed. */
export interface Engine {
  readonly settings: Settings;
  readonly validate: Validators;
  readonly storage: Storage;
  readonly metrics: MetricsStorage;
  readonly retention: MetricsRetention;
  readonly feed: Feed;
  readonly replica: Replica;
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

/** Whom changes are attributed to. */
export interface ActorIdentity {
  /** Of any type: callers without types are refused when they change something. */
  readonly name: unknown;
  readonly token?: Pick<Token, 'id' | 'kind'>;
}

/** The same text for the same actor. */
export function actorKey(actor: string | Pick<Token, 'id' | 'name' | 'kind'>): string {
  if (typeof actor !== 'object' || actor === null) return JSON.stringify([actor]);
  const { name, id, kind } = actor;
  return JSON.stringify([name, id, kind]);
}

export function actorFromKey(key: string): ActorIdentity {
  const [name, id, kind] = JSON.parse(key);
  return typeof id === 'string' && typeof kind === 'string'
    ? { name, token: { id, kind: kind as Token['kind'] } }
    : { name };
}
