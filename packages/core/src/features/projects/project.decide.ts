import { FlagsError } from '../../base/errors.js';
import { pickChanged } from '../../base/json.js';
import { DEFAULT_PROJECT, type ProjectMetadata, type ProjectState } from './project.js';
import type { ProjectEvent } from './project.kind.js';
import type { NewProject, ProjectChanges } from './project.types.js';

export function createProject(
  existing: ProjectState | undefined,
  { id, name, description = '' }: NewProject,
  createdAt: string,
): ProjectEvent[] {
  if (existing) throw new FlagsError('project_exists', `The project id ${id} is taken; choose another.`);
  return [{ type: 'project-created', data: { id, name, description, createdAt, members: [] }, before: null }];
}

export function updateProject(project: ProjectState, changes: ProjectChanges): ProjectEvent[] {
  const changed = pickChanged<ProjectMetadata>(project, changes, ['name', 'description']);
  return changed ? [{ type: 'project-updated', ...changed }] : [];
}

/**
 * Deletes a project.
 *
 * @param flagCount the number of the project's flags that are not archived
 * @param sharedTokenCount the number of API tokens that name this project beside others: they would give access to a
 * later project with the same id
 */
export function deleteProject(project: ProjectState, flagCount: number, sharedTokenCount = 0): ProjectEvent[] {
  if (project.id === DEFAULT_PROJECT) {
    throw new FlagsError('project_protected', `The project ${DEFAULT_PROJECT} cannot be deleted.`);
  }
  if (flagCount > 0) {
    const flags = flagCount === 1 ? 'a flag that is' : `${flagCount} flags that are`;
    throw new FlagsError(
      'project_not_empty',
      `The project ${project.id} has ${flags} not archived; archive every flag first.`,
    );
  }
  if (sharedTokenCount > 0) {
    const tokens = sharedTokenCount === 1 ? 'an API token' : `${sharedTokenCount} API tokens`;
    const message = `The project ${project.id} shares ${tokens} with other projects; delete the tokens first.`;
    throw new FlagsError('project_not_empty', message);
  }
  return [{ type: 'project-deleted', data: null, before: project }];
}
