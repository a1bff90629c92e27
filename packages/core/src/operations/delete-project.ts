import type { ChangeContext, ProjectRef } from '../api/refs.js';
import type { DomainEvent } from '../domain/domain-event.js';
import { deleteFlag } from '../domain/flag-lifecycle.js';
import { deleteProject } from '../domain/project.js';
import { deleteToken } from '../domain/token.js';
import type { Aggregate } from '../engine/aggregate.js';
import { flagDocuments, projectDocuments, tokenDocuments } from '../engine/aggregates.js';
import { changeDocument, type DocumentChange } from '../engine/document-change.js';
import type { Engine } from '../engine/engine.js';
import type { Read } from '../engine/reader.js';
import { refuseUnknownProject } from './find.js';
import { listStoredFlags } from './flag-lists.js';

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
      const removals = [
        ...archived.map((id) => remove(read, { aggregate: flagDocuments, id, decide: deleteFlag })),
        ...tokens.map(({ key }) => remove(read, { aggregate: tokenDocuments, id: key.id, decide: deleteToken })),
      ];
      const vacant = [flagDocuments, tokenDocuments].map(({ kind }) => ({ kind, parent: project.id }));
      return { events, along: await Promise.all(removals), vacant };
    },
  });
  await Promise.all(archived.map((flag) => engine.metrics.forget(flag)));
}

interface Removal<State, Event extends DomainEvent> {
  readonly aggregate: Aggregate<State, Event>;
  readonly id: string;
  readonly decide: (state: State) => readonly Event[];
}

async function remove<State, Event extends DomainEvent>(
  read: Read,
  { aggregate, id, decide }: Removal<State, Event>,
): Promise<DocumentChange | undefined> {
  const found = await read(aggregate, id);
  return found && changeDocument(aggregate, { id, found, events: decide(found.state) });
}
