import { groupBy } from '../base/collections.js';
import { isSameJson } from '../base/json.js';
import { paced } from '../base/paced.js';
import type { ChangeSet, Plan } from '../changesets/change-set.types.js';
import { planPrepared, readCommitted, readReason } from '../changesets/change-sets.operations.js';
import { type Documents, nameOf } from '../changesets/documents.js';
import type { Engine, PreparedChange } from '../changesets/engine.js';
import { withEffects } from '../changesets/plan.operations.js';
import type { UnitOfWork } from '../changesets/unit-of-work.js';
import { type ErrorDetail, FlagsError, isFlagsError } from '../errors.js';
import { toFlagsEvent } from '../events/feed.js';
import type { FlagState } from '../flags/flag.js';
import { flagDocuments } from '../flags/flag-documents.js';
import { assertOwnerStays } from '../projects/members.decide.js';
import { ownerOf } from '../projects/members.operations.js';
import { type ProjectState, projectDocuments } from '../projects/project.js';
import { type SegmentState, segmentDocuments } from '../segments/segment.js';
import type { DocumentKey, StoredEvent } from '../storage/port.js';
import { compareByEvents } from './differences.decide.js';
import { type EventGroup, foldEvents, hasHistory, holdsDocument, readSet, stateAt, walkBackSets } from './event-log.js';
import { type Merge, mergeFlag, mergeProject, mergeSegment, type Versions } from './merge.decide.js';
import { restoreLayout } from './restore.decide.js';
import { type Restoration, type Restorations, restoreDocuments } from './restore.operations.js';

type UndoOptions = { readonly actor?: string; readonly reason?: string };

export async function undo(engine: Engine, id: string, { actor, reason }: UndoOptions = {}): Promise<ChangeSet> {
  const prepared = await prepareUndo(engine, id);
  const context = {
    ...(actor !== undefined && { actor }),
    ...(reason !== undefined && { reason: readReason(reason) }),
  };
  const committed = await engine.run([prepared], context);
  if (committed.id !== null) return readCommitted(engine, committed.id);
  return { id: null, at: committed.at, actor: committed.actor, reason: reason ?? null, events: [], revisions: {} };
}

export async function planUndo(engine: Engine, id: string): Promise<Plan> {
  return withEffects(engine, await planPrepared(engine, [await prepareUndo(engine, id)]));
}

async function prepareUndo(engine: Engine, id: string): Promise<PreparedChange> {
  const set = await readSet(engine.storage, id);
  const changed = await readChanged(engine, set);
  const subject = changed[0]?.key;
  if (!subject) {
    const message = `The change set ${id} changed API tokens only, and that cannot be undone; create another token.`;
    throw new FlagsError('undo_conflict', message);
  }
  const decide = async (unit: UnitOfWork) => {
    const targets = await mergeAll(engine, unit, { set, changed });
    await restoreDocuments(unit, targets).catch((error: unknown) => {
      throw toConflict(id, error);
    });
    await restoreLayouts(unit, targets.flags);
  };
  return { subject, decide, result: () => undefined };
}

async function restoreLayouts(unit: UnitOfWork, flags: Restorations['flags']): Promise<void> {
  for await (const { id, target } of paced(flags)) {
    const flag = (await unit.read(flagDocuments, id))?.state;
    if (flag && target) await unit.apply(flagDocuments, id, restoreLayout(flag, target));
  }
}

/** A document that the set has changed, with its states around the set. */
interface ChangedDocument {
  readonly key: DocumentKey;
  readonly before: unknown;
  readonly after: unknown;
}

/** Deleted tokens stay deleted: their secrets may be known. */
async function readChanged({ storage }: Engine, { events }: EventGroup): Promise<readonly ChangedDocument[]> {
  const changed: ChangedDocument[] = [];
  for await (const own of paced(groupBy(events, ({ subject }) => nameOf(subject)).values())) {
    const [first] = own;
    if (!first || !hasHistory(first.subject)) continue;
    const before = await stateAt(storage, first.subject, { until: first.position, isExclusive: true });
    const after = foldEvents(first.subject.kind, before?.state, own);
    changed.push({ key: first.subject, before: before?.state, after });
  }
  return changed;
}

interface Undone {
  readonly set: EventGroup;
  readonly changed: readonly ChangedDocument[];
}

interface Targets {
  readonly projects: readonly Restoration<ProjectState>[];
  readonly segments: readonly Restoration<SegmentState>[];
  readonly flags: readonly Restoration<FlagState>[];
}

/** Merges every document with its current state. Throws `undo_conflict` if a part was changed again since the set. */
async function mergeAll(engine: Engine, unit: UnitOfWork, { set, changed }: Undone): Promise<Targets> {
  const conflicts: Conflict[] = [];

  async function mergeKind<State>(
    documents: Documents<State>,
    merge: (versions: Versions<State>) => Merge<State>,
  ): Promise<Restoration<State>[]> {
    const merged: Restoration<State>[] = [];
    for await (const { key, ...states } of paced(changed.filter(({ key }) => key.kind === documents.kind))) {
      const now = (await unit.read(documents, key.id))?.state;
      const { before, after } = states as Pick<Versions<State>, 'before' | 'after'>;
      const { target, conflicts: parts } = merge({ before, after, now });
      conflicts.push(...parts.map((path) => ({ key, path })));
      merged.push({ id: key.id, target });
    }
    return merged;
  }

  const targets = {
    projects: await mergeKind(projectDocuments, (versions) => {
      const merged = mergeProject(versions);
      const isAsBefore = isSameJson(merged.target?.members, versions.before?.members);
      if (!isAsBefore) assertOwnerStays(versions.now, merged.target, ownerOf(engine));
      return merged;
    }),
    segments: await mergeKind(segmentDocuments, mergeSegment),
    flags: await mergeKind(flagDocuments, mergeFlag),
  };
  if (conflicts.length > 0) throw await conflictError(engine, set, conflicts);
  return targets;
}

/** A part that the set has changed, and that was changed again. */
interface Conflict {
  readonly key: DocumentKey;
  readonly path: string;
}

async function conflictError(engine: Engine, set: EventGroup, conflicts: readonly Conflict[]): Promise<FlagsError> {
  const details: ErrorDetail[] = [];
  for (const own of groupBy(conflicts, ({ key }) => nameOf(key)).values()) {
    const [first] = own;
    if (first)
      details.push(...(await listLaterSets(engine, set, { key: first.key, paths: own.map(({ path }) => path) })));
  }
  const message = `The change set ${set.id} cannot be undone, because later ones changed the same: undo those first.`;
  return new FlagsError('undo_conflict', message, details.length > 0 ? details : undefined);
}

/** Lists the later sets that changed one of the parts of a document, newest first. */
async function listLaterSets(
  { storage }: Engine,
  set: EventGroup,
  { key, paths }: { readonly key: DocumentKey; readonly paths: readonly string[] },
): Promise<readonly ErrorDetail[]> {
  const details: ErrorDetail[] = [];
  for await (const later of walkBackSets(storage, { filter: { subject: key } })) {
    if (later.id === set.id) break;
    const path = paths.find((one) => touches(later.events, one));
    const [first] = later.events;
    if (path === undefined || !first) continue;
    const message = `The change set ${later.id} of ${first.actor} at ${first.at} changed this part.`;
    details.push({ message, path: `/${key.kind}/${key.id}${path}` });
  }
  return details;
}

function touches(events: readonly StoredEvent[], path: string): boolean {
  if (path === '' || events.some(({ type }) => holdsDocument(type))) return true;
  const isWithin = (one: string, other: string) => one === other || one.startsWith(`${other}/`);
  return compareByEvents(events.map(toFlagsEvent)).some(
    (part) => isWithin(part.path, path) || isWithin(path, part.path),
  );
}

/** A missing reference or a taken name is a later change that the undo does not fit any more. */
function toConflict(id: string, error: unknown): unknown {
  if (!isFlagsError(error) || !/_not_found$|_exists$/.test(error.code)) return error;
  const message = `The change set ${id} cannot be undone any more: ${error.message}`;
  return new FlagsError('undo_conflict', message, undefined, { cause: error });
}
