import { setImmediate } from 'node:timers/promises';
import type { Awaitable, ChangeContext } from '../common.types.js';
import { FlagsError, isFlagsError, isStorageFailure } from '../errors.js';
import type { Feed } from '../events/feed.js';
import type { DocumentKey, NewEvent, Storage } from '../storage/port.js';
import { timeSlice } from '../time-slice.js';
import { type DocumentReader, type KeyedUpdate, nameOf, type Versioned } from './documents.js';
import { type DocumentChange, withCheckpoints } from './draft.js';
import { createKeyedMutex } from './keyed-mutex.js';
import { assertExpected, assertRevision, type ExpectedRevision, locateRefusal } from './refusals.js';
import { isRepetition, newSetId, type RepeatableSet, toRepetition } from './set-id.js';
import { assertDocumentSize, isLarge, type StateSize } from './size-limits.js';
import { createWorkingCopy, type RunnableCopy, type WorkingCopy } from './working-copy.js';

/** A set fails with `too_much_contention` after this many conflicts. */
const ATTEMPTS = 20;
const MAX_PAUSE = 50;

/** The context of a change set. */
export interface SetContext extends Pick<ChangeContext, 'onSegmentUse'> {
  readonly actor: string;
  /** The API token that the actor uses. */
  readonly actorToken?: { readonly id: string; readonly kind: string };
  /** The id that the caller gives to the set. The runner commits it once, however often it is repeated. */
  readonly id?: string | undefined;
  readonly reason?: string | undefined;
  /** Documents that must be at these revisions. */
  readonly expected?: readonly ExpectedRevision[] | undefined;
}

/** A change with a valid input, ready to be decided any number of times. */
export interface PreparedChange<Result = unknown> {
  /** The document that the change is about. */
  readonly subject: DocumentKey;
  /** The document whose other changes wait for this one; the subject when absent. */
  readonly lock?: DocumentKey;
  /** The document that `ifRevision` refers to; the subject when absent. */
  readonly revisionOf?: DocumentKey;
  readonly ifRevision?: number | readonly number[] | undefined;
  /** A JSON Pointer to the change in the caller's input, which refusals name. Absent for a single operation. */
  readonly path?: string;
  /**
   * Decides the change on the working copy, and writes to it. Runs again after a conflict, so the preparation creates
   * the time, the ids and the input.
   */
  readonly decide: (copy: WorkingCopy, context: SetContext) => Awaitable<void>;
  /** Returns the result of the operation from the documents after the commit. */
  readonly result: (committed: DocumentReader) => Awaitable<Result>;
}

/** A change set after its commit. */
export interface CommittedSet {
  /** null if the set changed nothing. */
  readonly id: string | null;
  /** ISO 8601. */
  readonly at: string;
  readonly actor: string;
  /** The documents after the set. */
  readonly documents: DocumentReader;
}

/** A decided set, before its commit. */
export interface DecidedSet {
  readonly copy: RunnableCopy;
  readonly writes: readonly DocumentChange[];
}

export interface SetRunner {
  /** Decides and commits changes in their order: all of them, or none. */
  readonly run: (changes: readonly PreparedChange[], context: SetContext) => Promise<CommittedSet>;
  /** Decides changes without a commit. */
  readonly plan: (changes: readonly PreparedChange[], context: SetContext) => Promise<DecidedSet>;
}

/** The dependencies of the set runner. */
export interface ChangeEnvironment {
  readonly storage: Storage;
  readonly now: () => Date;
  readonly feed: Pick<Feed, 'ready' | 'wake'>;
  /** Applies the written documents to the replica, at once. */
  readonly applyUpdates: (updates: readonly KeyedUpdate[]) => Promise<void> | void;
  /** Drops the metrics of deleted flags. Never rejects, because the deletion is committed. */
  readonly forgetFlags: (flags: readonly string[]) => Promise<void>;
  /**
   * Returns a copy of the replica's document for a first decision without a read. Absent if reads are cheap, or if the
   * replica learns of other processes' commits by polling only.
   */
  readonly getCached?: ((key: DocumentKey) => Versioned<unknown> | undefined) | undefined;
  /** Enforces the option `stateLimit`; absent without one. */
  readonly size?: StateSize | undefined;
}

/** One call of the runner. */
interface SetRun extends RepeatableSet {
  readonly changes: readonly PreparedChange[];
  readonly context: SetContext;
  /** Made once, so that a repetition writes the same. */
  readonly id: string;
  readonly at: string;
}

/**
 * Creates the only writer of documents. It reads, decides, commits, and repeats the whole set after a conflict. Changes
 * of different documents may share other documents (a segment, a parent). Retries therefore run one at a time, so that
 * changes of one process do not conflict repeatedly.
 */
export function createSetRunner(environment: ChangeEnvironment): SetRunner {
  // Queued sets fail with the same error. Otherwise each would wait for the storage's timeout, one after another.
  const runExclusive = createKeyedMutex(isStorageFailure);
  const runRetryExclusive = createKeyedMutex(isStorageFailure);

  async function run(changes: readonly PreparedChange[], context: SetContext): Promise<CommittedSet> {
    const now = environment.now();
    const set = { changes, context, id: context.id ?? newSetId(now.getTime()), at: now.toISOString() };
    const firstOutcome = environment.getCached ? await tryCached(environment, set) : 'lost';
    if (firstOutcome !== 'lost') return firstOutcome;
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      if (attempt > 2) await pause(attempt);
      const tryNow = () => tryOnce(environment, set);
      const outcome = await (attempt === 1 ? tryNow() : runRetryExclusive([''], tryNow));
      if (outcome !== 'lost') return outcome;
    }
    const contested = changes.length === 1 ? changes[0]?.subject.kind : 'documents';
    throw new FlagsError('too_much_contention', `Others keep changing the same ${contested}; try again later.`);
  }

  return {
    run: (changes, context) => runExclusive(lockNames(changes), () => run(changes, context)),
    async plan(changes, context) {
      const decided = await decideSet(changes, context, environment.storage);
      environment.size?.reserve(decided.writes)();
      return decided;
    },
  };
}

function lockNames(changes: readonly PreparedChange[]): readonly string[] {
  const names = changes.map(({ subject, lock: { kind, id } = subject }) =>
    // A reference of a caller without types may be anything; the decision refuses it.
    nameOf({ kind, id: typeof id === 'string' ? id : '' }),
  );
  return names.length === 1 ? names : [...new Set(names)];
}

type Outcome = CommittedSet | 'lost';

/**
 * Decides on the replica's copies of the documents, which saves round trips to the database. Only a successful commit
 * proves that the copies were current. After a refusal, or a decision without events, the caller decides again on the
 * stored documents. Other errors are thrown at once.
 */
async function tryCached(environment: ChangeEnvironment, set: SetRun): Promise<Outcome> {
  const { storage, getCached } = environment;
  const cached = new Map<string, Versioned<unknown>>();
  for (const { subject } of set.changes) {
    // Copies each document once: many changes may have one large document.
    if (typeof subject.id !== 'string' || cached.has(nameOf(subject))) continue;
    if (set.changes.length > 1 && timeSlice.isOver()) await timeSlice.next();
    const found = getCached?.(subject);
    if (found) cached.set(nameOf(subject), found);
  }
  if (cached.size === 0) return 'lost';
  const get: Storage['get'] = (key) => {
    const found = cached.get(nameOf(key));
    return found ? { key, parent: null, revision: found.revision, body: found.state } : storage.get(key);
  };
  const decided = await decideSet(set.changes, set.context, { get, list: (query) => storage.list(query) }).catch(
    (error: unknown) => {
      if (isRefusal(error, set.context)) return undefined;
      throw error;
    },
  );
  if (!decided || decided.copy.events.length === 0) return 'lost';
  if (set.context.id !== undefined && (await isRepetition(environment.storage, set.context.id)))
    return toRepetition(set);
  return commit(environment, set, decided);
}

/** The host's `onSegmentUse` may refuse a change with an error of any type. */
function isRefusal(error: unknown, { onSegmentUse }: SetContext): boolean {
  return isFlagsError(error) || onSegmentUse !== undefined;
}

/**
 * Looks for an earlier commit of the same id after the decision has read all documents. A concurrent commit of that id
 * either is found, or changes one of the documents, so that this commit conflicts.
 */
async function tryOnce(environment: ChangeEnvironment, set: SetRun): Promise<Outcome> {
  const { changes, context } = set;
  let decided: DecidedSet;
  try {
    decided = await decideSet(changes, context, environment.storage);
  } catch (error) {
    if (await isRepetition(environment.storage, set.context.id)) return toRepetition(set);
    throw error;
  }
  if (context.id !== undefined && (await isRepetition(environment.storage, set.context.id))) return toRepetition(set);
  if (decided.copy.events.length > 0) return commit(environment, set, decided);
  return { id: null, at: set.at, actor: context.actor, documents: decided.copy };
}

/** Decides every change on the state that the earlier ones leave. */
async function decideSet(
  changes: readonly PreparedChange[],
  context: SetContext,
  storage: Pick<Storage, 'get' | 'list'>,
): Promise<DecidedSet> {
  const copy = createWorkingCopy(storage);
  if (context.expected) for (const expected of context.expected) await assertExpected(copy, expected);
  for (const change of changes) {
    copy.begin(change.path);
    try {
      if (change.ifRevision !== undefined) await assertRevision(copy, change, change.ifRevision);
      const deciding = change.decide(copy, context);
      if (deciding) await deciding;
    } catch (error) {
      throw locateRefusal(error, change.path);
    }
    if (changes.length > 1 && timeSlice.isOver()) await timeSlice.next();
  }
  const toWrite = copy.toChanges();
  const writes = toWrite instanceof Promise ? await toWrite : toWrite;
  for (const write of writes) {
    try {
      assertDocumentSize(write);
    } catch (error) {
      throw locateRefusal(error, write.path);
    }
  }
  return { copy, writes };
}

async function commit(
  { storage, feed, applyUpdates, forgetFlags, size }: ChangeEnvironment,
  set: SetRun,
  { copy, writes }: DecidedSet,
): Promise<Outcome> {
  const release = size?.reserve(writes);
  try {
    // A storage in this process commits synchronously: yield between the decision on a large document and its commit.
    if (writes.some(isLarge)) await setImmediate();
    const starting = feed.ready();
    if (starting) await starting;
    const result = await storage.commit({
      writes: withCheckpoints(writes),
      checks: copy.toChecks(),
      vacant: copy.toVacancies(),
      events: toNewEvents(copy, set),
    });
    if (!result.ok) return 'lost';
    size?.record(writes, result.revisions);
    const applying = applyUpdates(
      writes.map(({ write: { key }, found, next }, index) => {
        return { key, update: { revision: result.revisions[index] ?? 0, state: next, before: found } };
      }),
    );
    if (applying) await applying;
    feed.wake();
    copy.settle(result.revisions);
    const deleted = copy.events.filter(({ event }) => event.type === 'flag-deleted');
    if (deleted.length > 0) await forgetFlags(deleted.map(({ subject }) => subject.id));
    return { id: set.id, at: set.at, actor: set.context.actor, documents: copy };
  } finally {
    release?.();
  }
}

function toNewEvents(copy: RunnableCopy, { id, at, context }: SetRun): NewEvent[] {
  const { actor, actorToken, reason = null } = context;
  const token = actorToken && { actorTokenId: actorToken.id, actorTokenKind: actorToken.kind };
  return copy.events.map(({ subject, project, event }) => {
    const { type, data, before } = event;
    const { environment = null } = event;
    const recorded = { type, at, actor, changeSet: id, reason, subject, project, environment, data, before };
    return token ? { ...recorded, ...token } : recorded;
  });
}

/** Random backoff, so that competing processes do not conflict again. */
function pause(attempt: number): Promise<void> {
  const longest = Math.min(MAX_PAUSE, 2 ** attempt);
  return new Promise((resolve) => setTimeout(resolve, Math.random() * longest));
}
