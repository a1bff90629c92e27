import type { Awaitable, ChangeSetRef } from '../../base/common.types.js';
import { type ErrorDetail, FlagsError, isFlagsError } from '../../base/errors.js';
import { paced } from '../../base/paced.js';
import type { ChangeSet } from '../../kernel/changes/change-set.types.js';
import type { Engine, PreparedChange, UnitOfWork } from '../../kernel/engine.js';
import {
  type LoggedDocument,
  type LoggedSet,
  listLaterSets,
  readLoggedDocuments,
  readSet,
  toChangeSet,
} from '../../kernel/log/change-set-log.js';
import type { Registry } from '../../kernel/registry.js';
import type { DocumentKey, StoredEvent } from '../../storage/port.js';
import { type Restoration, restoreDocuments } from './restore.js';

/** Prepares an undo. Its events do not name an operation, so each event needs its own permission. */
export async function prepareUndo(
  engine: Engine,
  { changeSet: id }: ChangeSetRef,
  { authorize }: { readonly authorize?: ((set: ChangeSet) => Awaitable<void>) | undefined } = {},
): Promise<PreparedChange> {
  const set = await readSet(engine.storage, id);
  await authorize?.(toChangeSet(engine.registry, set));
  const changed = await readLoggedDocuments(engine, set);
  const subject = changed[0]?.key;
  const why = whyNothingToUndo(engine.registry, set);
  if (!subject || why !== undefined) {
    throw new FlagsError(
      'undo_conflict',
      `The change set ${id} changed only ${why ?? 'documents that cannot be undone.'}`,
    );
  }
  const decide = async (unit: UnitOfWork) => {
    const restorations = await mergeAll(engine, unit, { set, changed });
    await restoreDocuments(engine.registry, unit, restorations).catch((error: unknown) => {
      throw toConflict(id, error);
    });
  };
  return { subject, op: undefined, decide, result: () => undefined };
}

/** Undefined if an undo can take something back. */
function whyNothingToUndo(
  { kindOf, describeEvent }: Registry,
  { events: [first, ...others] }: LoggedSet,
): string | undefined {
  const reasonOf = ({ subject, type }: StoredEvent) =>
    kindOf(subject.kind)?.cannotUndo ?? describeEvent(type).cannotUndo;
  return others.every((event) => reasonOf(event) !== undefined) ? reasonOf(first) : undefined;
}

interface ReadSet {
  readonly set: LoggedSet;
  readonly changed: readonly LoggedDocument[];
}

/** Merges every document with its current state. Throws `undo_conflict` if a part was changed again since the set. */
async function mergeAll(engine: Engine, unit: UnitOfWork, { set, changed }: ReadSet): Promise<Restoration[]> {
  const conflicts: Conflict[] = [];
  let advice: string | undefined;
  const restorations: Restoration[] = [];
  for (const { documents, restorer } of engine.registry.kindsWithHistory) {
    const { kind } = documents;
    for await (const { key, before, after } of paced(changed.filter(({ key }) => key.kind === kind))) {
      const now = (await unit.read<unknown>(documents, key.id))?.state;
      const versions = { before, after, now };
      const merged = restorer.merge(versions);
      if (merged.conflicts.length > 0) conflicts.push({ key, paths: merged.conflicts });
      advice ??= merged.advice;
      restorer.assertMergeable?.(engine, versions, merged.target);
      restorations.push({ kind, id: key.id, target: merged.target });
    }
  }
  if (conflicts.length > 0) throw await conflictError(engine, { set, conflicts, advice });
  return restorations;
}

/** Parts of a document that the set has changed, and that have changed again since. */
interface Conflict {
  readonly key: DocumentKey;
  readonly paths: readonly string[];
}

async function conflictError(
  engine: Engine,
  {
    set,
    conflicts,
    advice = 'undo those first',
  }: { readonly set: LoggedSet; readonly conflicts: readonly Conflict[]; readonly advice: string | undefined },
): Promise<FlagsError> {
  const details: ErrorDetail[] = [];
  for (const conflict of conflicts) {
    const { kind, id } = conflict.key;
    for (const { set: later, path } of await listLaterSets(engine, set, conflict)) {
      const [{ actor, at }] = later.events;
      const message = `The change set ${later.id} of ${actor} at ${at} changed this part.`;
      details.push({ message, path: `/${kind}/${id}${path}` });
    }
  }
  const message = `The change set ${set.id} cannot be undone, because later change sets changed the same parts; ${advice}.`;
  return new FlagsError('undo_conflict', message, details.length > 0 ? details : undefined);
}

/** Converts refusals such as a missing reference or a taken name: a later change has made the undo impossible. */
function toConflict(id: string, error: unknown): unknown {
  if (!isFlagsError(error) || !/_not_found$|_exists$/.test(error.code)) return error;
  const message = `The change set ${id} can no longer be undone: ${error.message}`;
  return new FlagsError('undo_conflict', message, undefined, { cause: error });
}
