import { v7 as timeOrderedId } from 'uuid';
import { FlagsError, isFlagsError, isStorageFailure } from '../../base/errors.js';
import { pause } from '../../base/paced.js';
import { locateRefusals, toNoun } from '../../base/validator.js';
import { type KeyedUpdate, nameOf, type Versioned } from '../../storage/document-reader.js';
import type { DocumentKey, FlagsStorage, ListQuery, NewEvent } from '../../storage/port.js';
import type { PreparedChange } from '../engine.js';
import { checkpointsOf } from '../log/checkpoints.js';
import type { Feed } from '../log/feed.js';
import type { Registry } from '../registry.js';
import type { ChangeSetWriter, CommittedSet, DecidedSet, Rules, SetContext, SetIdentity } from './change-engine.js';
import type { SegmentUseRequest } from './change-set.types.js';
import { toPlannedSet } from './planned.js';
import { assertExpected, assertRevision } from './refusals.js';
import { isRepetition, recordOf } from './repetition.js';
import { ChangeSetUnit } from './unit-of-work.js';

/** A set fails with `too_much_contention` after this many conflicts. */
const ATTEMPTS = 20;
const MAX_PAUSE = 50;

/** The dependencies of the change set writer. */
interface ChangeEnvironment {
  readonly storage: FlagsStorage;
  readonly registry: Registry;
  readonly now: () => Date;
  readonly feed: Pick<Feed, 'subscriptions' | 'ready' | 'wake'>;
  /** Applies the written documents to the replica, at once. */
  readonly applyUpdates: (updates: readonly KeyedUpdate[], changeSet: string) => Promise<void> | void;
  /**
   * Returns a copy of the replica's document for a first decision without a read. Absent if reads are cheap, or if the
   * replica learns of other processes' commits by polling only.
   */
  readonly getCached?: ((key: DocumentKey) => Versioned<unknown> | undefined) | undefined;
  readonly rules: Required<Rules>;
}

interface SetRun extends SetIdentity {
  readonly changes: readonly PreparedChange[];
  readonly context: SetContext;
}

/**
 * Creates the only writer of documents. It reads, decides, commits, and repeats the whole set after a conflict. Changes
 * of different documents may share other documents (a segment, a parent). Retries therefore run one at a time, so that
 * changes of one process do not conflict repeatedly.
 */
export function createChangeSetWriter(environment: ChangeEnvironment): ChangeSetWriter {
  // Queued sets fail with the same error. Otherwise each would wait for the storage's timeout, one after another.
  const runExclusive = createKeyedMutex(isStorageFailure);
  const runRetryExclusive = createKeyedMutex(isStorageFailure);

  async function run(changes: readonly PreparedChange[], context: SetContext): Promise<CommittedSet> {
    const now = environment.now();
    // Time-ordered ids keep inserts at the end of the database's index. A clock may be before 1970.
    const id = context.repetition?.id ?? timeOrderedId({ msecs: Math.max(0, now.getTime()) });
    // Every attempt writes the same id.
    const set = { changes, context, id, at: now.toISOString() };
    // While a rule is active, every set writes one shared document, so a decision on copies would need newer ones.
    const usesCopies = environment.getCached && !environment.rules.isActive();
    const firstOutcome = usesCopies ? await tryCached(environment, set) : 'lost';
    if (typeof firstOutcome !== 'string') return firstOutcome;
    let hasConflicted = firstOutcome === 'conflict';
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      if (attempt > 2) await backOff(attempt);
      const isFirst = !hasConflicted;
      const tryNow = () => tryOnce(environment, set, isFirst);
      const outcome = await (attempt === 1 ? tryNow() : runRetryExclusive([''], tryNow));
      if (typeof outcome !== 'string') return outcome;
      hasConflicted = true;
    }
    const contested = changes.length === 1 ? toNoun(changes[0]?.subject.kind ?? '') : 'documents';
    throw new FlagsError('too_much_contention', `Other callers keep changing the same ${contested}; try again later.`);
  }

  return {
    run(changes, context) {
      const names = lockNames(changes);
      const locks = environment.rules.isActive() ? [...names, ''] : names;
      return runExclusive(locks, () => run(changes, context));
    },
    async plan(changes, context) {
      const set = { changes, context, id: '', at: environment.now().toISOString() };
      const decided = await decideSet(environment, set);
      await authorize(environment, context, decided);
      return decided;
    },
    isCommitted: (context) => isCommitted(environment.storage, context),
    async prune(documents, ids, isOld) {
      const unit = new ChangeSetUnit(environment.storage, environment.registry);
      for (const id of ids) {
        const found = await unit.read(documents, id);
        if (found && isOld(found.state)) await unit.remove(documents, id);
      }
      const writes = await unit.toChanges();
      if (writes.length > 0) await environment.storage.commit({ writes: writes.map(({ write }) => write), events: [] });
    },
  };
}

function lockNames(changes: readonly PreparedChange[]): readonly string[] {
  const names = changes.map(({ subject: { kind, id } }) =>
    // JavaScript callers may pass any value. The decision refuses it.
    nameOf({ kind, id: typeof id === 'string' ? id : '' }),
  );
  return names.length === 1 ? names : [...new Set(names)];
}

/** `conflict`: another commit came in between. `lost`: the copies may be old, so the stored documents decide. */
type Outcome = CommittedSet | 'conflict' | 'lost';

/**
 * Decides on the replica's copies of the documents, which saves round trips to the database. Only a successful commit
 * proves that the copies were current. After a refusal, or a decision without events, the caller decides again on the
 * stored documents. Other errors are thrown at once.
 */
async function tryCached(environment: ChangeEnvironment, set: SetRun): Promise<Outcome> {
  const { storage, getCached, rules } = environment;
  const cached = new Map<string, Versioned<unknown>>();
  for (const { subject } of set.changes) {
    await pause();
    // Copies each document once: many changes may have one large document.
    if (typeof subject.id !== 'string' || cached.has(nameOf(subject))) continue;
    const found = getCached?.(subject);
    if (found) cached.set(nameOf(subject), found);
  }
  if (cached.size === 0) return 'lost';
  const get: FlagsStorage['get'] = (key) => {
    const found = cached.get(nameOf(key));
    return found ? { key, parent: null, revision: found.revision, body: found.state } : storage.get(key);
  };
  const reader = { get, list: (query: ListQuery) => storage.list(query) };
  const decided = await decideSet({ ...environment, storage: reader }, set, (unit) => rules.enter(unit, true)).catch(
    (error: unknown) => {
      if (isFlagsError(error)) return undefined;
      throw error;
    },
  );
  if (!decided || decided.unit.events.length === 0) return 'lost';
  if (await isCommitted(storage, set.context)) return toRepetition(set);
  let admitted: SetRun;
  try {
    admitted = await admit(environment, set, decided);
  } catch {
    return 'lost';
  }
  return commit(environment, admitted, decided);
}

/**
 * Calls the caller's `authorize` with a decided set. If a document changes before the commit, the commit conflicts, and
 * `authorize` is called again with the next decision.
 */
async function authorize(environment: ChangeEnvironment, context: SetContext, decided: DecidedSet): Promise<void> {
  if (!context.authorize || decided.unit.events.length === 0) return;
  await context.authorize(await toPlannedSet(environment, decided));
}

/** Asks `authorize` and the rules. Returns the set to record: marked as a bypass only if it lacks a needed approval. */
async function admit(environment: ChangeEnvironment, set: SetRun, decided: DecidedSet): Promise<SetRun> {
  await authorize(environment, set.context, decided);
  const isBypassed = await environment.rules.assertApproved(decided, set.context);
  return isBypassed ? { ...set, context: withBypass(set.context) } : set;
}

/** Returns the context of a set that bypasses approval. Appends the reason of the bypass to that of the change. */
export function withBypass<Context extends Pick<SetContext, 'reason' | 'bypass'>>(
  context: Context,
): Context & Required<Pick<SetContext, 'reason' | 'origin'>> {
  const reason = [context.reason, context.bypass].filter((text) => text !== undefined && text !== '').join('\n');
  return { ...context, origin: 'bypass', reason };
}

/**
 * Looks for an earlier commit of the same id after the decision: the state that was decided on may be the result of that
 * commit. A later one makes this commit conflict.
 */
async function tryOnce(environment: ChangeEnvironment, set: SetRun, isFirst: boolean): Promise<Outcome> {
  const { context } = set;
  const { rules } = environment;
  let decided: DecidedSet;
  try {
    decided = await decideSet(environment, set, (unit) => rules.enter(unit, isFirst));
  } catch (error) {
    if (await isCommitted(environment.storage, context)) return toRepetition(set);
    throw error;
  }
  if (await isCommitted(environment.storage, context)) return toRepetition(set);
  if (decided.unit.events.length > 0) {
    return commit(environment, await admit(environment, set, decided), decided);
  }
  return { id: null, at: set.at, actor: context.actor, documents: decided.unit };
}

async function isCommitted(storage: FlagsStorage, context: SetContext): Promise<boolean> {
  return context.repetition !== undefined && isRepetition(storage, context, context.repetition);
}

/** Decides every change on the state that the earlier ones leave. */
async function decideSet(
  { storage, registry }: { readonly storage: Pick<FlagsStorage, 'get' | 'list'>; readonly registry: Registry },
  { changes, context, id, at }: SetRun,
  enterRules?: (unit: ChangeSetUnit) => Promise<void>,
): Promise<DecidedSet> {
  const unit = new ChangeSetUnit(storage, registry);
  if (context.expected) for (const expected of context.expected) await assertExpected(unit, expected);
  for (const change of changes) {
    await pause();
    unit.begin(change);
    const decide = async () => {
      if (change.ifRevision !== undefined) await assertRevision(unit, change, change.ifRevision);
      await change.decide(unit, { ...context, at });
    };
    // A single change has no place in the caller's input.
    if (change.path === undefined) await decide();
    else await locateRefusals(change.path, decide, '/input');
  }
  unit.begin({});
  const approval = await context.finishSet?.(unit, context, { id, at });
  if (enterRules && unit.events.length > 0) await enterRules(unit);
  return { unit, writes: await unit.toChanges(), approval };
}

async function commit(
  { storage, registry, feed, applyUpdates, rules }: ChangeEnvironment,
  set: SetRun,
  { unit, writes }: DecidedSet,
): Promise<Outcome> {
  const { context } = set;
  if (feed.subscriptions.size > 0) await feed.ready();
  await pause();
  const existing = writes.filter(({ found }) => found);
  const result = await storage.commit({
    writes: [
      ...writes.map(({ write }) => write),
      ...(existing.length > 0 ? checkpointsOf(existing, registry) : []),
      ...(context.repetition ? [recordOf(context, context.repetition)] : []),
    ],
    checks: unit.toChecks(),
    vacant: unit.toVacancies(),
    events: toNewEvents(unit, set),
  });
  if (!result.ok) return 'conflict';
  const applying = applyUpdates(
    writes.map(({ write: { key }, found, next }, index) => {
      return { key, update: { revision: result.revisions[index] ?? 0, state: next, before: found } };
    }),
    set.id,
  );
  if (applying) await applying;
  feed.wake();
  unit.setRevisions(result.revisions);
  const deleted = unit.events.filter(({ event }) => registry.describeEvent(event.type).endsUsage);
  if (deleted.length > 0) await rules.onEnded(deleted.map(({ subject }) => subject.id));
  return { id: set.id, at: set.at, actor: context.actor, documents: unit };
}

function toNewEvents(unit: ChangeSetUnit, { id, at, context }: SetRun): NewEvent[] {
  const { actor, actorToken, reason = null, origin } = context;
  const token = actorToken && { actorTokenId: actorToken.id, actorTokenKind: actorToken.kind };
  return unit.events.map(({ subject, project, event }) => {
    const { type, data, before } = event;
    const { environment = null } = event;
    const recorded = { type, at, actor, changeSet: id, reason, subject, project, environment, data, before };
    return token || origin ? { ...recorded, ...token, ...(origin && { origin }) } : recorded;
  });
}

/** Joins the rules of all features. A feature may add its rules later. */
export function joinRules(all: readonly Rules[]): Required<Rules> {
  return {
    isActive: () => all.some(({ isActive }) => isActive?.()),
    async enter(unit, isFirst) {
      for (const { enter } of all) if (enter) await enter(unit, isFirst);
    },
    async assertApproved(decided, context) {
      let isBypassed = false;
      for (const { assertApproved } of all) {
        if (assertApproved && (await assertApproved(decided, context))) isBypassed = true;
      }
      return isBypassed;
    },
    async findApproval(decided) {
      for (const { findApproval } of all) {
        const found = findApproval && (await findApproval(decided));
        if (found) return found;
      }
      return null;
    },
    async findSegmentUses(decided, documents) {
      const found: SegmentUseRequest[] = [];
      for (const { findSegmentUses } of all) {
        if (findSegmentUses) found.push(...(await findSegmentUses(decided, documents)));
      }
      return found;
    },
    async onEnded(ids) {
      for (const { onEnded } of all) if (onEnded) await onEnded(ids);
    },
  };
}

/** Random backoff, so that competing processes do not conflict again. */
function backOff(attempt: number): Promise<void> {
  const longest = Math.min(MAX_PAUSE, 2 ** attempt);
  return new Promise((resolve) => setTimeout(resolve, Math.random() * longest));
}

/**
 * Runs work after all earlier work for the same keys has ended or failed. Work for other keys runs
 * concurrently. If earlier work fails with a shared error, queued work fails with the same error.
 *
 * Work for several keys joins all queues at once. It waits for earlier work only, so crossing sets of keys cannot
 * deadlock.
 */
type KeyedMutex = <T>(keys: readonly string[], work: () => Promise<T>) => Promise<T>;

/**
 * Creates a mutex per key. Changes of one document run one at a time within the process, so that they do not conflict.
 * Only changes of other processes cause conflicts and retries.
 *
 * @param isShared whether queued work would meet the same error. Default: never
 */
export function createKeyedMutex(isShared: (error: unknown) => boolean = () => false): KeyedMutex {
  // The ends of the latest work, without its results: those hold the documents of the change.
  const latest = new Map<string, Promise<SharedFailure | undefined>>();

  return (keys, work) => {
    const before: Promise<SharedFailure | undefined>[] = [];
    for (const key of keys) {
      const end = latest.get(key);
      if (end) before.push(end);
    }
    const turn = before.length === 0 ? work() : allOf(before).then(work);
    const cleanUp = (): undefined => {
      for (const key of keys) if (latest.get(key) === end) latest.delete(key);
    };
    const end: Promise<SharedFailure | undefined> = turn.then(cleanUp, (error: unknown) => {
      cleanUp();
      return isShared(error) ? { error } : undefined;
    });
    for (const key of keys) latest.set(key, end);
    return turn;
  };
}

interface SharedFailure {
  readonly error: unknown;
}

/** Rejects with a shared error, if there is one, after all have ended. */
async function allOf(earlier: readonly Promise<SharedFailure | undefined>[]): Promise<void> {
  const failed = (await Promise.all(earlier)).find((failure) => failure !== undefined);
  if (failed) throw failed.error;
}

/** Returns the result of a repeated set: the caller reads the first result from the events. */
function toRepetition({ id, at, context: { actor } }: SetRun): CommittedSet {
  return { id, at, actor, documents: undefined };
}
