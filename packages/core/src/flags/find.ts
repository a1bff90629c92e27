import { assertText, type Read, type Versioned } from '../changes/documents.js';
import type { Engine } from '../changes/engine.js';
import type { FlagRef, ProjectRef } from '../common.types.js';
import { FlagsError } from '../errors.js';
import { type ProjectState, projectDocuments } from '../projects/project.js';
import type { FlagState } from './flag.js';
import { flagDocuments } from './flag-documents.js';

/** Resolves to the project. Rejects with `project_not_found`. */
export async function findProject(read: Read, { project }: ProjectRef): Promise<Versioned<ProjectState>> {
  return (await read(projectDocuments, project)) ?? throwProjectNotFound(project);
}

/** Resolves to the flag of the named project. Rejects with `flag_not_found` or `project_not_found`. */
export async function findFlag(read: Read, ref: FlagRef): Promise<Versioned<FlagState>> {
  const found = await read(flagDocuments, ref.flag);
  if (found && found.state.project === ref.project) return found;
  await findProject(read, ref);
  return throwFlagNotFound(ref.flag, ` in the project ${ref.project}`);
}

export function throwProjectNotFound(project: string): never {
  throw new FlagsError('project_not_found', `There is no project ${project}; create it, or list the projects.`);
}

export function throwFlagNotFound(flag: string, where = ''): never {
  throw new FlagsError('flag_not_found', `There is no flag ${flag}${where}; create it, or list the flags.`);
}

/** Throws `environment_not_found` unless the settings contain the environment. */
export function assertEnvironment({ settings }: Pick<Engine, 'settings'>, environment: string): void {
  assertText('environment', environment);
  if (!settings.environments.some(({ name }) => name === environment))
    throwEnvironmentNotFound({ settings }, environment);
}

export function throwEnvironmentNotFound({ settings }: Pick<Engine, 'settings'>, environment: string): never {
  const names = settings.environments.map(({ name }) => name).join(', ');
  throw new FlagsError('environment_not_found', `There is no environment ${environment}; there are ${names}.`);
}
