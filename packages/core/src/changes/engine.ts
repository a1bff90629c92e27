import type { Awaitable, ChangeContext } from '../common.types.js';
import { FlagsError } from '../errors.js';
import type { Feed } from '../events/feed.js';
import type { Settings } from '../flags.js';
import type { MetricsRetention } from '../metrics/retention.js';
import type { Replica } from '../replica/replica.js';
import type { PayloadReader } from '../schema/payload.js';
import type { MetricsStorage } from '../storage/metrics-port.js';
import type { Storage } from '../storage/port.js';
import type { Token } from '../tokens/token.types.js';
import type { TokenVerifier } from '../tokens/token-verification.operations.js';
import { invalidInput } from '../validation/validator.js';
import type { Validators } from '../validators.js';
import type { DocumentReader } from './documents.js';
import type { CommittedSet, DecidedSet, PreparedChange, SetContext } from './set-runner.js';

/** The dependencies of operations. Engines of different actors differ in `run` and `plan` only. */
export interface Engine extends DocumentReader, TokenVerifier {
  readonly settings: Settings;
  readonly validate: Validators;
  readonly storage: Storage;
  readonly metrics: MetricsStorage;
  readonly retention: MetricsRetention;
  readonly feed: Feed;
  readonly replica: Replica;
  readonly payloads: PayloadReader;
  /** Runs a change set, attributed to the engine's actor unless the context names another one. */
  readonly run: (changes: readonly PreparedChange[], context: UnattributedContext | undefined) => Promise<CommittedSet>;
  /** Decides a change set without a commit. */
  readonly plan: (changes: readonly PreparedChange[], context?: UnattributedContext) => Promise<DecidedSet>;
  readonly now: () => Date;
  /** Milliseconds after which a new token expires at the latest; undefined: no limit. */
  readonly maxTokenLifetime: number | undefined;
  readonly newId: () => string;
  readonly isUser: (userId: number) => Awaitable<boolean>;
}

/** A context that may lack an actor. */
type UnattributedContext = Omit<SetContext, 'actor' | 'actorToken'> & Pick<ChangeContext, 'actor'>;

/** The actor of changes: a name, and the API token if the actor uses one. */
export interface ActorIdentity {
  /** Of any type, because callers without types may pass anything. The first change validates the name. */
  readonly name: unknown;
  readonly token?: Pick<Token, 'id' | 'kind'>;
}

/** Converts an actor's name or an API token to an identity. */
export function toIdentity(actor: string | Pick<Token, 'id' | 'name' | 'kind'>): ActorIdentity {
  if (typeof actor !== 'object' || actor === null) return { name: actor };
  const { name, id, kind } = actor;
  return typeof id === 'string' && typeof kind === 'string' ? { name, token: { id, kind } } : { name };
}

/** Adds the engine's actor to the context of a change set, unless the context names another one. */
export function attribute(context: UnattributedContext | undefined, { name, token }: ActorIdentity): SetContext {
  const actor: unknown = context?.actor ?? name;
  const actorToken = context?.actor === undefined ? token : undefined;
  if (typeof actor !== 'string' || actor === '') {
    throw invalidInput([{ message: 'the actor must be a text that is not empty', path: '' }]);
  }
  const attributed = actorToken ? { actor, actorToken } : { actor };
  return context ? { ...context, ...attributed } : attributed;
}

/** Tracks the running operations, and whether the engine is open. */
export interface Lifetime {
  /** Aborts as soon as `end` is called. */
  readonly closing: AbortSignal;
  /** Runs an operation unless the engine is closed. The operation must be async: it must not throw before it returns. */
  track<T>(operation: () => Promise<T>): Promise<T>;
  /** Throws `closed` if the engine is closed. */
  assertOpen(): void;
  /** Refuses new operations, waits for running ones, then calls `release`. Later calls return the first promise. */
  end(release: () => Promise<void>): Promise<void>;
}

export function createLifetime(): Lifetime {
  const closing = new AbortController();
  let running = 0;
  let whenIdle: () => void = () => undefined;
  let ending: Promise<void> | undefined;

  function assertOpen(): void {
    if (ending) throw closedError();
  }

  function leave(): void {
    running -= 1;
    if (running === 0) whenIdle();
  }

  return {
    closing: closing.signal,
    assertOpen,
    track(operation) {
      if (ending) return Promise.reject(closedError());
      running += 1;
      const result = operation();
      void result.then(leave, leave);
      return result;
    },
    end(release) {
      if (ending) return ending;
      const idle = new Promise<void>((resolve) => {
        whenIdle = resolve;
      });
      ending = idle.then(release);
      if (running === 0) whenIdle();
      closing.abort();
      return ending;
    },
  };
}

function closedError(): FlagsError {
  return new FlagsError('closed', 'This instance is closed; create another one.');
}
