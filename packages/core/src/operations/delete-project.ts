import type { ChangeContext, ProjectRef } from '../api/refs.js';
import type { DomainEvent } from '../domain/domain-event.js';
import type { FlagState } from '../domain/flag.js';
import { deleteFlag } from '../domain/flag-lifecycle.js';
import { deleteProject } from '../domain/project.js';
import { deleteToken, type TokenState } from '../domain/token.js';
import type { Aggregate, Documents, Versioned } from '../engine/aggregate.js';
import { flagDocuments, projectDocuments, tokenDocuments } from '../engine/aggregates.js';
import { changeDocument, type DocumentChange } from '../engine/document-change.js';
import type { Engine } from '../engine/engine.js';
import type { Read } from '../engine/reader.js';
import { refuseUnknownProject } from './find.js';
import { listStoredFlags } from './flag-lists.js';
import { followReferences } from './follow-references.js';

/**
 * Deletes a project with its archive and its tokens in one commit, which is repeated if anything came into the project
 * meanwhile. A token that stayed would open a later project of the same id.
 */
export async function deleteProjectWithContents(
  engine: Engine,
  ref: ProjectRef,
  context: ChangeContext | undefined,
): Promise<void> {
  let forgotten: readonly string[] = [];
  await engine.change({
    aggregate: projectDocuments,
    id: ref.project,
    context,
    decide: async (found, read) => {
      const project = (found ?? refuseUnknownProject(ref.project)).state;
      const { live, archive } = await readFlags(engine, project.id, read);
      const events = deleteProject(project, live);
      forgotten = archive.map(({ state }) => state.name);
      const tokens = await readTokens(engine, project.id, read);
      const along = [
        ...(await Promise.all(archive.map((flag) => removeFlag(read, flag)))).flat(),
        ...tokens.map((token) => remove(tokenDocuments, token, deleteToken(token.state))),
      ];
      const vacant = [flagDocuments, tokenDocuments].map(({ kind }) => ({ kind, parent: project.id }));
      return { events, along, vacant };
    },
  });
  await engine.retention.forget(forgotten);
}

type Found<State> = Versioned<State> & { readonly id: string };

/** The archived flags as they are now, and how many others there are: some may have been revived since the listing. */
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

async function readTokens({ storage }: Engine, project: string, read: Read): Promise<readonly Found<TokenState>[]> {
  const listed = await storage.list({ kind: tokenDocuments.kind, parent: project, part: 'summary' });
  const ids = listed.map(({ key }) => key.id);
  return readAll(read, tokenDocuments, ids);
}

/** Those that are still there. */
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
