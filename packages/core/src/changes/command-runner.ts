import { setImmediate } from 'node:timers/promises';
import type { ChangeContext } from '../common.types.js';
import { FlagsError, isFlagsError } from '../errors.js';
import type { DomainEvent } from '../events/event.types.js';
import type { Feed } from '../events/feed.js';
import { checkpointsOf } from '../history/past-state.js';
import type { DocumentKey, NewEvent, Storage, Vacancy } from '../storage/port.js';
import type { Aggregate, Documents, KeyedUpdate, Versioned } from './aggregate.js';
import { changeDocument, type DocumentChange } from './document-change.js';
import { createKeyedMutex } from './keyed-mutex.js';
import { createTrackingReader, nameOf, type Read, type TrackingReader } from './reader.js';
import { assertDocumentSizes, isLarge, type StateSize } from './state-size.js';

/** A change fails with `too_much_contention` after this many conflicts. */
const ATTEMPTS = 20;
const MAX_PAUSE = 50;

/** A change context with its actor. */
export interface AttributedContext extends ChangeContext {
  readonly actor: string;
  /** The API token that the actor uses. */
  readonly actorToken?: { readonly id: string; readonly kind: string };
}

/** One change of one document, with its side writes to other documents. */
export interface Change<State, Event extends DomainEvent> {
  readonly aggregate: Aggregate<State, Event>;
  /** The document's id, or a function that every attempt calls to derive it from other documents. */
  readonly id: string | ((read: Read) => Promise<string>);
  readonly context: AttributedContext;
  /** The document that `ifRevision` refers to; the changed document when absent. */
  readonly revisionOf?: { readonly documents: Documents<never>; readonly id: string };
  /**
   * Decides which events to apply to the current state. Runs again after a conflict, so the caller creates the time,
   * the ids and the input beforehand. Repeated reads through `read` return the same document. The commit checks that
   * none of these documents has changed.
   */
  readonly decide: (
    found: Versioned<State> | undefined,
    read: Read,
    actor: string,
  ) => Promise<Decision<Event>> | Decision<Event>;
}

/** The events of the changed document, optionally with side writes and vacancy checks. */
export type Decision<Event> =
  | readonly Event[]
  | {
      readonly events: readonly Event[];
      /** Changes of other documents, in the same commit. */
      readonly sideWrites: readonly (DocumentChange | undefined)[];
      readonly vacant?: readonly Vacancy[];
    };

/** Runs a change. Resolves to the document afterwards, or to undefined if the change deleted it. */
export type CommandRunner = <State, Event extends DomainEvent>(
  change: Change<State, Event>,
) => Promise<Versioned<State> | undefined>;

/** The dependencies of the command runner. */
export interface ChangeEnvironment {
  readonly storage: Storage;
  readonly now: () => Date;
  readonly feed: Pick<Feed, 'ready' | 'wake'>;
  /** Applies the written documents to the replica, at once. */
  readonly applyUpdates: (updates: readonly KeyedUpdate[]) => Promise<void> | void;
  /**
   * Returns a copy of the replica's document for a first decision without a read. Absent if reads are cheap, or if the
   * replica learns of other processes' commits by polling only.
   */
  readonly getCached?: ((key: DocumentKey) => Versioned<unknown> | undefined) | undefined;
  /** Enforces the option `stateLimit`; absent without one. */
  readonly size?: StateSize | undefined;
}

/**
 * Creates the only writer of documents. It reads, decides, commits, and retries after a conflict. Changes of different
 * documents may share other documents (a segment, a parent). Retries therefore run one at a time, so that changes of
 * one process do not conflict repeatedly.
 */
export function createCommandRunner(environment: ChangeEnvironment): CommandRunner {
  const runExclusive = createKeyedMutex(isStorageFailure);
  const runRetryExclusive = createKeyedMutex(isStorageFailure);
  return (change) =>
    runExclusive(mutexKeyOf(change), async () => {
      const at = environment.now().toISOString();
      const firstOutcome = environment.getCached ? await tryCached(environment, change, at) : 'lost';
      if (firstOutcome !== 'lost') return firstOutcome;
      for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
        if (attempt > 2) await pause(attempt);
        const tryNow = () => tryOnce(environment, change, at);
        const outcome = await (attempt === 1 ? tryNow() : runRetryExclusive('', tryNow));
        if (outcome !== 'lost') return outcome;
      }
      const message = `Others keep changing the same ${change.aggregate.kind}; try again later.`;
      throw new FlagsError('too_much_contention', message);
    });
}

/** Queued changes fail with the same error. Otherwise each would wait for the storage's timeout, one after another. */
function isStorageFailure(error: unknown): boolean {
  return isFlagsError(error) && (error.code === 'storage_busy' || error.code === 'storage_unavailable');
}

/** Returns the mutex key. Changes that derive their id share one key per kind. */
function mutexKeyOf({ aggregate, id }: { readonly aggregate: Documents<never>; readonly id: unknown }): string {
  return nameOf({ kind: aggregate.kind, id: typeof id === 'string' ? id : '' });
}

type Outcome<State> = Promise<Versioned<State> | undefined | 'lost'>;

/**
 * Decides on the replica's copy of the document, which saves a round trip to the database. Only a successful commit
 * proves that the copy was current. After a refusal, or a decision without events, the caller decides again on the
 * stored document. Other errors are thrown at once.
 */
async function tryCached<State, Event extends DomainEvent>(
  environment: ChangeEnvironment,
  change: Change<State, Event>,
  at: string,
): Outcome<State> {
  const { aggregate, id } = change;
  const cached = typeof id === 'string' ? environment.getCached?.({ kind: aggregate.kind, id }) : undefined;
  if (!cached) return 'lost';
  const get: Storage['get'] = (key) =>
    key.kind === aggregate.kind && key.id === id
      ? { key, parent: null, revision: cached.revision, body: cached.state }
      : environment.storage.get(key);
  const prepared = await decide(change, { get }).catch((error: unknown) => {
    if (isRefusal(error, change.context)) return undefined;
    throw error;
  });
  return prepared?.own ? commit(environment, prepared, at) : 'lost';
}

/** The host's `onSegmentUse` may refuse a change with an error of any type. */
function isRefusal(error: unknown, { onSegmentUse }: AttributedContext): boolean {
  return isFlagsError(error) || onSegmentUse !== undefined;
}

async function tryOnce<State, Event extends DomainEvent>(
  environment: ChangeEnvironment,
  change: Change<State, Event>,
  at: string,
): Outcome<State> {
  const prepared = await decide(change, environment.storage);
  return prepared.own ? commit(environment, prepared, at) : prepared.found;
}

/** The result of a decision, before its commit. */
interface PreparedCommit<State> {
  readonly found: Versioned<State> | undefined;
  /** Undefined if nothing changes. */
  readonly own: DocumentChange<State> | undefined;
  /** All writes, the changed document first. */
  readonly changes: readonly DocumentChange[];
  readonly vacant: readonly Vacancy[];
  readonly context: AttributedContext;
  readonly reader: TrackingReader;
}

async function decide<State, Event extends DomainEvent>(
  change: Change<State, Event>,
  storage: Pick<Storage, 'get'>,
): Promise<PreparedCommit<State>> {
  const { context } = change;
  const reader = createTrackingReader(storage);
  const id = typeof change.id === 'function' ? await change.id(reader.read) : change.id;
  const found = await reader.read(change.aggregate, id);
  await assertRevision(change, { id, found }, reader.read);
  const decision = await change.decide(found, reader.read, context.actor);
  const { events, sideWrites, vacant = [] } = 'events' in decision ? decision : { events: decision, sideWrites: [] };
  const own = changeDocument(change.aggregate, { id, found, events });
  const changes = own ? [own, ...sideWrites.filter((other) => other !== undefined)] : [];
  assertDocumentSizes(changes);
  return { found, own, changes, vacant, context, reader };
}

async function commit<State>(
  { storage, feed, applyUpdates, size }: ChangeEnvironment,
  { own, changes, vacant, context, reader }: PreparedCommit<State>,
  at: string,
): Outcome<State> {
  const release = size?.reserve(changes);
  try {
    // A storage in this process commits synchronously: yield between the decision on a large document and its commit.
    if (changes.some(isLarge)) await setImmediate();
    await feed.ready();
    const result = await storage.commit({
      writes: [...changes.map(({ write }) => write), ...checkpointsOf(changes)],
      checks: reader.checksBeside(changes.map(({ write }) => write.key)),
      vacant,
      events: changes.flatMap((one) => toNewEvents(one, { at, context })),
    });
    if (!result.ok) return 'lost';
    size?.record(changes, result.revisions);
    const applying = applyUpdates(
      changes.map(({ write: { key }, found, next }, index) => {
        return { key, update: { revision: result.revisions[index] ?? 0, state: next, before: found } };
      }),
    );
    if (applying) await applying;
    feed.wake();
    return own?.next === undefined ? undefined : { state: own.next, revision: result.revisions[0] ?? 0 };
  } finally {
    release?.();
  }
}

/** Throws `revision_mismatch` unless the document is at a revision that the caller accepts. */
async function assertRevision<State, Event extends DomainEvent>(
  { aggregate, revisionOf, context }: Change<State, Event>,
  { id, found }: { readonly id: string; readonly found: Versioned<State> | undefined },
  read: Read,
): Promise<void> {
  if (context.ifRevision === undefined) return;
  const document = revisionOf ? await read(revisionOf.documents, revisionOf.id) : found;
  const accepted = [context.ifRevision].flat();
  if (document && accepted.includes(document.revision)) return;
  const { kind, name } = revisionOf
    ? { kind: revisionOf.documents.kind, name: revisionOf.id }
    : { kind: aggregate.kind, name: id };
  const state = document ? `is at revision ${document.revision}` : 'does not exist';
  const message = `The ${kind} ${name} ${state}, not at ${accepted.join(' or ')}; read it again and repeat the change.`;
  throw new FlagsError('revision_mismatch', message);
}

function toNewEvents(
  { write, events, project }: DocumentChange,
  { at, context: { actor, actorToken } }: { at: string; context: AttributedContext },
): NewEvent[] {
  const token = actorToken && { actorTokenId: actorToken.id, actorTokenKind: actorToken.kind };
  return events.map(({ type, environment = null, data, before }) => {
    return { type, at, actor, ...token, subject: write.key, project, environment, data, before };
  });
}

/** Random backoff, so that competing processes do not conflict again. */
function pause(attempt: number): Promise<void> {
  const longest = Math.min(MAX_PAUSE, 2 ** attempt);
  return new Promise((resolve) => setTimeout(resolve, Math.random() * longest));
}
