import type { Member } from './project.types.js';

/** Every instance has this project, which cannot be deleted. */
export const DEFAULT_PROJECT = 'default';

/** The stored state of a project: one document, including its members. */
export interface ProjectState extends ProjectMetadata {
  readonly id: string;
  readonly createdAt: string;
  /** Sorted by user id. */
  readonly members: readonly Member[];
}

export interface ProjectMetadata {
  readonly name: string;
  readonly description: string;
}
