import { lookUp } from '../api/resource.js';

/** Returns the name of a project, or its id until the projects are loaded. */
export function projectName(id: string): string {
  return lookUp('listProjects', {}).data?.projects.find((project) => project.id === id)?.name ?? id;
}
