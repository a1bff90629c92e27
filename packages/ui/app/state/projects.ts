import { useResource } from '../api/resource.js';

/** Returns a function that names a project by its id. */
export function useProjectNames(): (id: string) => string {
  const { data } = useResource('listProjects', {});
  return (id) => data?.projects.find((project) => project.id === id)?.name ?? id;
}
