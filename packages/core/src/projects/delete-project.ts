import type { Aggregate } from '../changes/documents.js';
import type { Engine, PreparedChange } from '../changes/engine.js';
import type { WorkingCopy } from '../changes/working-copy.js';
import type { ProjectRef } from '../common.types.js';
import type { DomainEvent } from '../events/event.types.js';
import { applyToFlag } from '../flags/change-flag.js';
import { findProject, flagDocuments } from '../flags/flag-documents.js';
import { listStoredFlags } from '../flags/flag-lists.operations.js';
import { deleteFlag } from '../flags/lifecycle.decide.js';
import { deleteSegment, segmentDocuments, unregisterSegment } from '../segments/segment.js';
import { changeRegistry } from '../segments/segment.operations.js';
import { deleteToken, isSharedWith, tokenDocuments } from '../tokens/token.js';
import { listStoredTokens } from '../tokens/token.operations.js';
import { removeTokenUse } from '../tokens/token-verification.operations.js';
import * as projectRules from './project.js';
import { projectDocuments } from './project.js';

/** Documents that are read at once: concurrent reads hide the latency of a database, and a batch limits the memory. */
const DOCUMENTS_AT_ONCE = 16;

/**
 * Deletes a project with its archived flags, segments and tokens in one commit. The commit conflicts if another change
 * adds a document to the project, and the deletion is decided again. A remaining token or segment would belong to a
 * later project of the same id.
 */
export function deleteProject(_: Engine, ref: ProjectRef): PreparedChange<void> {
  return {
    subject: { kind: projectDocuments.kind, id: ref.project },
    async decide(copy) {
      const project = (await findProject(copy.read, ref)).state;
      const flags = await listStoredFlags(copy, project.id);
      const live = flags.filter(({ archived }) => !archived).length;
      const sharedTokens = (await listStoredTokens(copy)).filter((token) => isSharedWith(token, project.id));
      const events = projectRules.deleteProject(project, live, sharedTokens.length);
      await copy.apply(projectDocuments, project.id, events);
      await deleteSegments(copy, project.id);
      for await (const { id, state } of readAll(
        copy,
        flagDocuments,
        flags.map(({ name }) => name),
      )) {
        // Another process may have revived the flag since the listing.
        if (!state.archived) projectRules.deleteProject(project, 1);
        await applyToFlag(copy, id, deleteFlag(state));
      }
      const tokens = await listIds(copy, tokenDocuments.kind, project.id);
      for await (const { id, state } of readAll(copy, tokenDocuments, tokens)) {
        await copy.apply(tokenDocuments, id, deleteToken(state));
        await removeTokenUse(copy, id);
      }
      for (const { kind } of [flagDocuments, tokenDocuments, segmentDocuments]) {
        copy.requireVacant({ kind, parent: project.id });
      }
    },
    result: () => undefined,
  };
}

/** Deletes the project's segments, and releases their names. */
async function deleteSegments(copy: WorkingCopy, project: string): Promise<void> {
  const names = new Set<string>();
  for await (const { id, state } of readAll(
    copy,
    segmentDocuments,
    await listIds(copy, segmentDocuments.kind, project),
  )) {
    await copy.apply(segmentDocuments, id, deleteSegment(state, 0));
    names.add(state.name);
  }
  if (names.size === 0) return;
  await changeRegistry(copy, (registry) => [...names].reduce(unregisterSegment, registry));
}

async function listIds({ list }: WorkingCopy, kind: string, parent: string): Promise<readonly string[]> {
  return (await list({ kind, parent, part: 'summary' })).map(({ key }) => key.id);
}

/** Reads documents by id in batches, and omits missing ones. */
async function* readAll<State, Event extends DomainEvent>(
  { read }: WorkingCopy,
  documents: Aggregate<State, Event>,
  ids: readonly string[],
): AsyncGenerator<{ readonly id: string; readonly state: State }> {
  for (let first = 0; first < ids.length; first += DOCUMENTS_AT_ONCE) {
    const batch = ids.slice(first, first + DOCUMENTS_AT_ONCE);
    const found = await Promise.all(batch.map((id) => read(documents, id)));
    for (const [index, document] of found.entries()) {
      if (document) yield { id: batch[index] ?? '', state: document.state };
    }
  }
}
