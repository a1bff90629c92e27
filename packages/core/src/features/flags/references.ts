import type { ProjectRef } from '../../base/common.types.js';
import { FlagsError } from '../../base/errors.js';
import type { Constraint } from '../../evaluation/definitions.types.js';
import type { Documents, Read, Versioned } from '../../storage/documents.js';

/*
 * Documents that others refer to, as far as those need to know them. The kinds of projects and segments lie above flags,
 * because their operations read and change flags. They extend these descriptions.
 */

/** A project, as its flags, segments and tokens see it. */
export interface ReferredProject {
  readonly id: string;
}

export const referredProjects: Documents<ReferredProject> = { kind: 'project', parentOf: () => null };

/** Resolves to the project. Rejects with `project_not_found`. */
export async function findProject(read: Read, ref: ProjectRef): Promise<Versioned<ReferredProject>> {
  return (await read(referredProjects, ref.project)) ?? throwProjectNotFound(ref.project);
}

export function throwProjectNotFound(project: string): never {
  throw new FlagsError('project_not_found', `There is no project ${project}; create it, or list the projects.`);
}

/** A segment, as the flags that use it see it. */
export interface ReferredSegment {
  /** Absent if flags of all projects may use the segment. */
  readonly project?: string;
  readonly constraints: readonly Constraint[];
}

export const referredSegments: Documents<ReferredSegment> = {
  kind: 'segment',
  parentOf: ({ project }) => project ?? null,
};
