import type { ChangeContext, ProjectRef } from '../api/refs.js';
import { deleteFlag } from '../domain/flag-lifecycle.js';
import { deleteProject } from '../domain/project.js';
import { deleteToken } from '../domain/token.js';
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
  let archived: readonly string[] = [];
  await engine.change({
    aggregate: projectDocuments,
    id: ref.project,
    context,
    decide: async (found, read) => {
      const project = (found ?? refuseUnknownProject(ref.project)).state;
      const flags = await listStoredFlags(engine, project.id);
      archived = flags.filter((flag) => flag.archived).map(({ name }) => name);
      const events = deleteProject(project, flags.length - archived.length);
      const tokens = await engine.storage.list({ kind: tokenDocuments.kind, parent: project.id, part: 'summary' });
      const removals = await Promise.all([
        ...archived.map((flag) => removeFlag(read, flag)),
        ...tokens.map(({ key }) => removeToken(read, key.id)),
      ]);
      const vacant = [flagDocuments, tokenDocuments].map(({ kind }) => ({ kind, parent: project.id }));
      return { events, along: removals.flat(), vacant };
    },
  });
  await Promise.all(archived.map((flag) => engine.metrics.forget(flag)));
}

type Removal = readonly (DocumentChange | undefined)[];

async function removeFlag(read: Read, id: string): Promise<Removal> {
  const found = await read(flagDocuments, id);
  if (!found) return [];
  const events = deleteFlag(found.state);
  return [changeDocument(flagDocuments, { id, found, events }), ...(await followReferences(read, found.state, events))];
}

async function removeToken(read: Read, id: string): Promise<Removal> {
  const found = await read(tokenDocuments, id);
  return found ? [changeDocument(tokenDocuments, { id, found, events: deleteToken(found.state) })] : [];
}
