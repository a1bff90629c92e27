import { setImmediate } from 'node:timers/promises';
import type { ChangeContext } from '../common.types.js';
import { FlagsError, isFlagsError } from '../errors.js';
import type { DomainEvent } from '../events/event.types.js';
import type { Feed } from '../events/feed.js';
import type { DocumentKey, NewEvent, Storage, Vacancy } from '../storage/port.js';
import type { Aggregate, Documents, DocumentUpdate, Versioned } from './aggregate.js';
import { changeDocument, type DocumentChange } from './document-change.js';
import { createKeyedMutex } from './keyed-mutex.js';
import { createTrackingReader, nameOf, type Read, type TrackingReader } from './reader.js';
import { assertDocumentSizes, isLarge, type StateSize } from './state-size.js';

/** Losing more races than this in a row means that other processes keep the document busy. */
const ATTEMPTS = 20;
const LONGEST_PAUSE = 50;

/** A context in which it is settled who acts. */
export interface AttributedContext extends ChangeContext {
  readonly actor: string;
  /** The API token that the actor uses. */
  readonly actorToken?: { readonly id: string; readonly kind: string };
}

/** One change of one document, and of others sideWrites with it. */
export interface Change<State, Event extends DomainEvent> {
  readonly aggregate: Aggregate<State, Event>;
  /** Or how to find it, in every attempt anew, where other documents tell. */
  readonly id: string | ((read: Read) => Promise<string>);
  readonly context: AttributedContext;
  /** The document whose revision `ifRevision` speaks of; the changed one when absent. */
  readonly revisionOf?: { readonly documents: Documents<never>; readonly id: string };
  /**
   * Decides on the state as it is now what happens. It may run again when a race is lost: everything that comes from
   * outside (time, ids, input) is made before. What it reads through `read` is the same however often it asks, and is
   * checked not to have moved at the commit.
   */
  readonly decide: (
    found: Versioned<State> | undefined,
    read: Read,
    actor: string,
  ) => Promise<Decision<Event>> | Decision<Event>;
}

export type Decision<Event> =
  | readonly Event[]
  | {
      readonly events: readonly Event[];
      /** Changes of other documents, in the same commit. */
      readonly sideWrites: readonly (DocumentChange | undefined)[];
      readonly vacant?: readonly Vacancy[];
    };

/** Carries a change out; gives the document after it, undefined when it is deleted. */
export type CommandRunner = <State, Event extends DomainEvent>(
  change: Change<State, Event>,
) => Promise<Versioned<State> | undefined>;

/** What the loop works with. */
export interface ChangeEnvironment {
  readonly storage: Storage;
  readonly now: () => Date;
  readonly feed: Pick<Feed, 'ready' | 'wake'>;
  /** Takes every document that was written, as it is now; undefined when it is deleted. */
  readonly applyUpdate: (key: DocumentKey, news: DocumentUpdate) => void;
  /**
   * A copy of the document as this process knows it, which saves reading it where that is how it is. Absent where that is
   * read as soon, or known too late.
   */
  readonly recall?: ((key: DocumentKey) => Versioned<unknown> | undefined) | undefined;
  /** Keeps all definitions together within a limit; absent without one. */
  readonly size?: StateSize | undefined;
}

/**
 * The only writer and the only loop: read, decide, commit, and again from the start when a race is lost. Changes of
 * different documents may have others in common (a segment, a parent), so losers of one process repeat one by one:
 * however many they are, they do not lose against each other again.
 */
export function createCommandRunner(environment: ChangeEnvironment): CommandRunner {
  const takeTurn = createKeyedMutex(isOfTheStorage);
  const takeRetryTurn = createKeyedMutex(isOfTheStorage);
  return (change) =>
    takeTurn(turnOf(change), async () => {
      const at = environment.now().toISOString();
      const early = environment.recall ? await tryRecalled(environment, change, at) : 'lost';
      if (early !== 'lost') return early;
      for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
        if (attempt > 2) await pause(attempt);
        const tryNow = () => tryOnce(environment, change, at);
        const outcome = await (attempt === 1 ? tryNow() : takeRetryTurn('', tryNow));
        if (outcome !== 'lost') return outcome;
      }
      const message = `Others keep changing the same ${change.aggregate.kind}; try again later.`;
      throw new FlagsError('too_much_contention', message);
    });
}

/** Changes of one document wait one by one: were each to wait for the storage as well, the last would wait for hours. */
function isOfTheStorage(error: unknown): boolean {
  return isFlagsError(error) && (error.code === 'storage_busy' || error.code === 'storage_unavailable');
}

/** Those who look for an id wait for each other. */
function turnOf({ aggregate, id }: { readonly aggregate: Documents<never>; readonly id: unknown }): string {
  return nameOf({ kind: aggregate.kind, id: typeof id === 'string' ? id : '' });
}

type Outcome<State> = Promise<Versioned<State> | undefined | 'lost'>;

/**
 * Decides on the document as this process knows it. A commit tells whether that is how it is, and nothing else does: what is
 * refused, or comes to nothing, is lost as well, to be decided on what is stored.
 */
async function tryRecalled<State, Event extends DomainEvent>(
  environment: ChangeEnvironment,
  change: Change<State, Event>,
  at: string,
): Outcome<State> {
  const { aggregate, id } = change;
  const known = typeof id === 'string' ? environment.recall?.({ kind: aggregate.kind, id }) : undefined;
  if (!known) return 'lost';
  const get: Storage['get'] = (key) =>
    key.kind === aggregate.kind && key.id === id
      ? { key, parent: null, revision: known.revision, body: known.state }
      : environment.storage.get(key);
  const decided = await decide(change, { get }).catch(() => undefined);
  return decided?.own ? commit(environment, decided, at) : 'lost';
}

async function tryOnce<State, Event extends DomainEvent>(
  environment: ChangeEnvironment,
  change: Change<State, Event>,
  at: string,
): Outcome<State> {
  const decided = await decide(change, environment.storage);
  return decided.own ? commit(environment, decided, at) : decided.found;
}

/** What a change comes to, before it is committed. */
interface Decided<State> {
  readonly found: Versioned<State> | undefined;
  /** Undefined when nothing changes. */
  readonly own: DocumentChange<State> | undefined;
  /** All that is written: its own document first. */
  readonly changes: readonly DocumentChange[];
  readonly vacant: readonly Vacancy[];
  readonly context: AttributedContext;
  readonly reader: TrackingReader;
}

async function decide<State, Event extends DomainEvent>(
  change: Change<State, Event>,
  storage: Pick<Storage, 'get'>,
): Promise<Decided<State>> {
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
  { storage, feed, applyUpdate: take, size }: ChangeEnvironment,
  { own, changes, vacant, context, reader }: Decided<State>,
  at: string,
): Outcome<State> {
  const release = size?.reserve(changes);
  try {
    // A storage in this process commits at once: others get a turn between the decision on a large document and its commit.
    if (changes.some(isLarge)) await setImmediate();
    await feed.ready();
    const result = await storage.commit({
      writes: changes.map(({ write }) => write),
      checks: reader.checksBeside(changes.map(({ write }) => write.key)),
      vacant,
      events: changes.flatMap((one) => toNewEvents(one, { at, context })),
    });
    if (!result.ok) return 'lost';
    size?.record(changes, result.revisions);
    for (const [index, { write, found, next }] of changes.entries()) {
      take(write.key, { revision: result.revisions[index] ?? 0, state: next, before: found });
    }
    feed.wake();
    return own?.next === undefined ? undefined : { state: own.next, revision: result.revisions[0] ?? 0 };
  } finally {
    release?.();
  }
}

/** Refuses to go on when the caller has seen another state than there is. */
async function assertRevision<State, Event extends DomainEvent>(
  { aggregate, revisionOf: seen, context }: Change<State, Event>,
  { id, found }: { readonly id: string; readonly found: Versioned<State> | undefined },
  read: Read,
): Promise<void> {
  if (context.ifRevision === undefined) return;
  const document = seen ? await read(seen.documents, seen.id) : found;
  const accepted = [context.ifRevision].flat();
  if (document && accepted.includes(document.revision)) return;
  const { kind, name } = seen ? { kind: seen.documents.kind, name: seen.id } : { kind: aggregate.kind, name: id };
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

/** Random, so that those who lost against each other do not meet again. */
function pause(attempt: number): Promise<void> {
  const longest = Math.min(LONGEST_PAUSE, 2 ** attempt);
  return new Promise((resolve) => setTimeout(resolve, Math.random() * longest));
}
