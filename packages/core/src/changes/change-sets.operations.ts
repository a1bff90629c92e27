import { groupBy } from '../collections.js';
import { FlagsError } from '../errors.js';
import type { FlagsEvent } from '../events/event.types.js';
import { toFlagsEvent, withoutHash } from '../events/subscription.js';
import { flagDocuments } from '../flags/flag-documents.js';
import type { StoredEvent } from '../storage/port.js';
import { timeSlice } from '../time-slice.js';
import { tokenDocuments } from '../tokens/token.js';
import { LIMITS } from '../validation/limits.js';
import type {
  ApplyOptions,
  Change,
  ChangeSet,
  DocumentName,
  Plan,
  PlannedDocument,
  PlannedEvent,
} from './change-set.types.js';
import { nameOf } from './documents.js';
import type { Engine } from './engine.js';
import { readChangeSetId, readChanges, readExpectedRevisions, readReason } from './read-changes.js';
import { locateRefusal } from './refusals.js';
import type { PreparedChange } from './set-runner.js';
import type { RecordedEvent } from './working-copy.js';

export async function apply(
  engine: Engine,
  changes: readonly Change[],
  options: ApplyOptions = {},
): Promise<ChangeSet> {
  const { id, actor, reason, ifRevision, onSegmentUse } = options;
  const context = {
    ...(id !== undefined && { id: readChangeSetId(id) }),
    ...(actor !== undefined && { actor }),
    ...(reason !== undefined && { reason: readReason(reason) }),
    ...(onSegmentUse && { onSegmentUse }),
    expected: readExpectedRevisions(ifRevision),
  };
  const committed = await engine.run(await prepareAll(engine, changes), context);
  if (committed.id !== null) return readCommitted(engine, committed.id);
  return { id: null, at: committed.at, actor: committed.actor, reason: reason ?? null, events: [], revisions: {} };
}

export async function plan(engine: Engine, changes: readonly Change[]): Promise<Plan> {
  return { documents: await planDocuments(engine, changes) };
}

/** Decides changes without a commit. Returns the documents that they would change, with their states. */
export async function planDocuments(engine: Engine, changes: readonly Change[]): Promise<readonly PlannedDocument[]> {
  const { copy, writes } = await engine.plan(await prepareAll(engine, changes));
  const events = groupBy(copy.events, ({ subject }) => nameOf(subject));
  return writes.flatMap(({ write: { key }, found, next }) => {
    const own = events.get(nameOf(key));
    if (!own) return [];
    const shown = showingOf(key.kind);
    const states = { before: shown(found?.state ?? null), after: shown(next ?? null) };
    return [{ ...key, ...states, events: own.map(toPlannedEvent) }];
  });
}

/** Validates every change, and creates its ids and times. */
async function prepareAll(engine: Engine, changes: readonly Change[]): Promise<readonly PreparedChange[]> {
  const prepared: PreparedChange[] = [];
  for (const [index, { operation, ifRevision, ...change }] of readChanges(changes).entries()) {
    if (timeSlice.isOver()) await timeSlice.next();
    const path = `/changes/${index}`;
    try {
      prepared.push({ ...(await operation.prepare(engine, change)), ifRevision, path });
    } catch (error) {
      throw locateRefusal(error, path);
    }
  }
  return prepared;
}

/** The events, with their ids and positions, are in the storage. A failed read must not claim that nothing has changed. */
export async function readCommitted(engine: Engine, id: string): Promise<ChangeSet> {
  try {
    const found = await readChangeSet(engine, id);
    if (found) return found;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `The change set ${id} was committed, and its events cannot be read (${reason}). Repeat the call with this id.`;
    throw new FlagsError('outcome_unknown', message, undefined, { cause: error });
  }
  throw new Error(`The change set ${id} was committed, and the storage has no events of it.`);
}

/** Reads a change set from its events. Resolves to undefined if there is none of this id. */
async function readChangeSet({ storage }: Engine, id: string): Promise<ChangeSet | undefined> {
  const stored: StoredEvent[] = [];
  for (;;) {
    const after = stored.at(-1)?.position;
    const { events } = await storage.events({
      order: 'oldest-first',
      filter: { changeSet: id },
      limit: LIMITS.eventsPerPage,
      ...(after !== undefined && { after }),
    });
    stored.push(...events);
    if (events.length < LIMITS.eventsPerPage) return toChangeSet(id, stored);
  }
}

function toChangeSet(id: string, stored: readonly StoredEvent[]): ChangeSet | undefined {
  const [first] = stored;
  if (!first) return undefined;
  const { at, actor, reason } = first;
  const events: readonly FlagsEvent[] = stored.map(toFlagsEvent);
  const revisions = stored.map(({ subject, revision }) => [`${subject.kind}/${subject.id}`, revision] as const);
  return { id, at, actor, reason, events, revisions: Object.fromEntries(revisions) as Record<DocumentName, number> };
}

function toPlannedEvent({ subject, project, event }: RecordedEvent): PlannedEvent {
  const { type, environment = null, data, before } = event;
  const shown = showingOf(subject.kind);
  const flag = subject.kind === flagDocuments.kind ? subject.id : null;
  return { type, project, flag, environment, data: shown(data), before: shown(before) };
}

/** Returns a function that removes the hash of a token. */
function showingOf(kind: string): (value: unknown) => unknown {
  return kind === tokenDocuments.kind ? withoutHash : (value) => value;
}
