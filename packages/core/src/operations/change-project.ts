import type { ChangeContext, ProjectRef } from '../api/refs.js';
import type { ProjectEvent, ProjectState } from '../domain/project.js';
import type { Versioned } from '../engine/aggregate.js';
import { projectDocuments } from '../engine/aggregates.js';
import type { Engine } from '../engine/engine.js';
import { refuseUnknownProject } from './find.js';

/** Changes an existing project; gives it as it is afterwards. */
export async function changeProject(
  { change }: Pick<Engine, 'change'>,
  { ref, context }: { readonly ref: ProjectRef; readonly context: ChangeContext | undefined },
  decide: (project: ProjectState) => ProjectEvent[],
): Promise<Versioned<ProjectState>> {
  const changed = await change({
    aggregate: projectDocuments,
    id: ref.project,
    context,
    decide: (found) => decide((found ?? refuseUnknownProject(ref.project)).state),
  });
  return changed ?? refuseUnknownProject(ref.project);
}
