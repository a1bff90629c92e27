import type { Aggregate, Documents, Versioned } from '../changes/aggregate.js';
import { changeDocument, type DocumentChange } from '../changes/document-change.js';
import type { Engine } from '../changes/engine.js';
import type { Read } from '../changes/reader.js';
import type { ChangeContext, ProjectRef } from '../common.types.js';
import type { DomainEvent } from '../events/event.types.js';
import { followReferences } from '../flags/change-flag.js';
import { throwProjectNotFound } from '../flags/find.js';
import type { FlagState } from '../flags/flag.js';
import { flagDocuments } from '../flags/flag-documents.js';
import { listStoredFlags } from '../flags/flag-lists.operations.js';
import { deleteFlag } from '../flags/lifecycle.decide.js';
import { deleteSegment, type SegmentState, segmentDocuments } from '../segments/segment.js';
import { changeRegistry } from '../segments/segment.operations.js';
import { unregisterSegment } from '../segments/segment-registry.js';
import { deleteToken, isSharedWith, tokenDocuments } from '../tokens/token.js';
import { listStoredTokens } from '../tokens/token.operations.js';
import * as projectRules from './project.js';
import { projectDocuments } from './project.js';

/**
 * Deletes a project with its archived flags, segments and tokens in one commit. The commit conflicts if another change
 * adds a document to the project, and the deletion is decided again. A remaining token or segment would belong to a
 * later project of the same id.
 */
export async function deleteProject(engine: Engine, ref: ProjectRef, context?: ChangeContext): Promise<void> {
  let forgotten: readonly string[] = [];
  await engine.change({
    aggregate: projectDocuments,
    id: ref.project,
    context,
    decide: async (found, read) => {
      const project = (found ?? throwProjectNotFound(ref.project)).state;
      const { live, archive } = await readFlags(engine, project.id, read);
      const sharedTokens = (await listStoredTokens(engine)).filter((token) => isSharedWith(token, project.id));
      const events = projectRules.deleteProject(project, live, sharedTokens.length);
      forgotten = archive.map(({ state }) => state.name);
      const tokens = await readListed(engine, { documents: tokenDocuments, project: project.id, read });
      const segments = await readListed(engine, { documents: segmentDocuments, project: project.id, read });
      const sideWrites = [
        ...segments.map((segment) => remove(segmentDocuments, segment, deleteSegment(segment.state, 0))),
        await unregisterSegments(read, segments),
        ...(await Promise.all(archive.map((flag) => removeFlag(read, flag)))).flat(),
        ...tokens.map((token) => remove(tokenDocuments, token, deleteToken(token.state))),
      ];
      const vacant = [flagDocuments, tokenDocuments, segmentDocuments].map(({ kind }) => ({
        kind,
        parent: project.id,
      }));
      return { events, sideWrites, vacant };
    },
  });
  await engine.retention.forget(forgotten);
}

type Found<State> = Versioned<State> & { readonly id: string };

/** Reads the archived flags and counts the others. Reads each archived flag, which may be live since the listing. */
async function readFlags(
  engine: Engine,
  project: string,
  read: Read,
): Promise<{ readonly live: number; readonly archive: readonly Found<FlagState>[] }> {
  const listed = await listStoredFlags(engine, project);
  const names = listed.filter((flag) => flag.archived).map(({ name }) => name);
  const found = await readAll(read, flagDocuments, names);
  const archive = found.filter(({ state }) => state.archived);
  return { live: listed.length - names.length + found.length - archive.length, archive };
}

async function readListed<State>(
  { storage }: Engine,
  { documents, project, read }: { documents: Documents<State>; project: string; read: Read },
): Promise<readonly Found<State>[]> {
  const listed = await storage.list({ kind: documents.kind, parent: project, part: 'summary' });
  const ids = listed.map(({ key }) => key.id);
  return readAll(read, documents, ids);
}

/** Returns the write that releases the names of the project's segments. */
async function unregisterSegments(
  read: Read,
  segments: readonly Found<SegmentState>[],
): Promise<DocumentChange | undefined> {
  if (segments.length === 0) return undefined;
  return changeRegistry(read, (registry) =>
    segments.reduce((all, { state }) => unregisterSegment(all, state.name), registry),
  );
}

/** Reads documents by id, and omits missing ones. */
async function readAll<State>(
  read: Read,
  documents: Documents<State>,
  ids: readonly string[],
): Promise<readonly Found<State>[]> {
  const found = await Promise.all(ids.map((id) => read(documents, id)));
  return found.flatMap((document, index) => (document ? { ...document, id: ids[index] ?? '' } : []));
}

async function removeFlag(read: Read, flag: Found<FlagState>): Promise<readonly (DocumentChange | undefined)[]> {
  const events = deleteFlag(flag.state);
  return [remove(flagDocuments, flag, events), ...(await followReferences(read, flag.state, events))];
}

function remove<State, Event extends DomainEvent>(
  aggregate: Aggregate<State, Event>,
  found: Found<State>,
  events: readonly Event[],
): DocumentChange | undefined {
  return changeDocument(aggregate, { id: found.id, found, events });
}
