import type { Documents, Versioned } from '../changes/aggregate.js';
import { type DocumentChange, removeIndex, touch, writeIndex } from '../changes/document-change.js';
import type { Engine } from '../changes/engine.js';
import type { Read } from '../changes/reader.js';
import type { Awaitable, ChangeContext, FlagRef } from '../common.types.js';
import { segmentDocuments } from '../segments/segment.js';
import { assertSegmentsUsable } from '../segments/segment-access.js';
import { assertInProject, throwFlagNotFound } from './find.js';
import { dependenciesOf, evolveFlag, type FlagEvent, type FlagState, segmentsOf } from './flag.js';
import { type DependencyEdge, dependencyEdges, edgeId, flagDocuments } from './flag-documents.js';
import type { Strategy } from './strategy.types.js';

/**
 * Returns the side writes for changed references of a flag. They update the index of children, and touch newly
 * referenced segments and parents. A concurrent change that deletes such a segment or archives such a parent then
 * conflicts, and decides again. So does a change that adds a dependency to such a parent.
 *
 * @param flag the flag before the events; undefined if the events create it
 */
export async function followReferences(
  read: Read,
  flag: FlagState | undefined,
  events: readonly FlagEvent[],
): Promise<readonly (DocumentChange | undefined)[]> {
  if (!events.some(mayRefer)) return [];
  const next = events.reduce(evolveFlag, flag);
  const child = (next ?? flag)?.name ?? '';
  const [before, after] = [referencesOf(flag), referencesOf(next)];
  const newParents = without(after.parents, before.parents);
  return Promise.all([
    ...without(after.segments, before.segments).map((id) => touchExisting(read, segmentDocuments, `${id}`)),
    ...newParents.map((parent) => touchExisting(read, flagDocuments, parent)),
    ...newParents.map((parent) => writeEdge(read, { parent, child })),
    ...without(before.parents, after.parents).map((parent) => removeEdge(read, { parent, child })),
  ]);
}

/** Whether an event may add or remove a reference. */
function mayRefer(event: FlagEvent): boolean {
  switch (event.type) {
    case 'strategy-added':
    case 'strategy-updated':
    case 'strategy-removed':
      return hasSegments(event.data) || hasSegments(event.before);
    case 'flag-created':
    case 'flag-deleted':
    case 'dependency-added':
    case 'dependency-updated':
    case 'dependency-removed':
      return true;
    default:
      return false;
  }
}

function hasSegments(strategy: Strategy | null): boolean {
  return (strategy?.segments ?? []).length > 0;
}

interface References {
  readonly segments: readonly number[];
  readonly parents: readonly string[];
}

function referencesOf(flag: FlagState | undefined): References {
  if (!flag) return { segments: [], parents: [] };
  return { segments: segmentsOf(flag), parents: dependenciesOf(flag).map((dependency) => dependency.flag) };
}

function without<T>(items: readonly T[], others: readonly T[]): readonly T[] {
  return items.filter((item) => !others.includes(item));
}

async function touchExisting<State>(
  read: Read,
  documents: Documents<State>,
  id: string,
): Promise<DocumentChange | undefined> {
  const found = await read(documents, id);
  return found && touch(documents, { id, found });
}

async function writeEdge(read: Read, next: DependencyEdge): Promise<DocumentChange> {
  const id = edgeId(next);
  return writeIndex(dependencyEdges, { id, found: await read(dependencyEdges, id), next });
}

async function removeEdge(read: Read, edge: DependencyEdge): Promise<DocumentChange | undefined> {
  const id = edgeId(edge);
  const found = await read(dependencyEdges, id);
  return found && removeIndex(dependencyEdges, { id, found });
}

/** Changes an existing flag of the project that the reference names. Resolves to the changed flag. */
export async function changeFlag(
  { change }: Pick<Engine, 'change'>,
  { ref, context }: { readonly ref: FlagRef; readonly context: ChangeContext | undefined },
  decide: (flag: FlagState, read: Read) => Awaitable<FlagEvent[]>,
): Promise<Versioned<FlagState>> {
  const changed = await change({
    aggregate: flagDocuments,
    id: ref.flag,
    context,
    decide: async (found, read) => {
      const { state } = await assertInProject(found, { ref, read });
      const events = await decide(state, read);
      await assertSegmentsUsable(read, { project: state.project, events, context });
      return { events, sideWrites: await followReferences(read, state, events) };
    },
  });
  return changed ?? throwFlagNotFound(ref.flag);
}
