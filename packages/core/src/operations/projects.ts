import type { Project, ProjectOperations } from '../api/projects.js';
import { createProject, type ProjectState, updateProject } from '../domain/project.js';
import type { Versioned } from '../engine/aggregate.js';
import { projectDocuments } from '../engine/aggregates.js';
import type { Engine } from '../engine/engine.js';
import { changeProject } from './change-project.js';
import { deleteProjectWithContents } from './delete-project.js';
import { refuseUnknownProject } from './find.js';
import { projectListOperations } from './project-lists.js';

/** Creates, changes, deletes and reads projects. */
export function projectOperations(engine: Engine): ProjectOperations {
  const { change, validate, now } = engine;
  return {
    ...projectListOperations(engine),

    async createProject(input, context) {
      const valid = validate.newProject(input);
      const createdAt = now().toISOString();
      const created = await change({
        aggregate: projectDocuments,
        id: valid.id,
        context,
        decide: (existing) => createProject(existing?.state, valid, createdAt),
      });
      return toProject(created ?? refuseUnknownProject(valid.id));
    },

    async updateProject(ref, input, context) {
      const changes = validate.projectChanges(input);
      return toProject(await changeProject(engine, { ref, context }, (project) => updateProject(project, changes)));
    },

    deleteProject: (ref, context) => deleteProjectWithContents(engine, ref, context),
  };
}

function toProject({ state, revision }: Versioned<ProjectState>): Project {
  const { id, name, description, createdAt } = state;
  return { id, name, description, createdAt, revision };
}
