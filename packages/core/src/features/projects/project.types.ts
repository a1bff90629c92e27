import type { FlagSummary } from '../flags/flag.types.js';

/** A project: it holds flags and members. */
export interface Project {
  /** The same characters as in flag names. */
  readonly id: string;
  /** The display name. */
  readonly name: string;
  readonly description: string;
  /** ISO 8601, UTC, milliseconds. */
  readonly createdAt: string;
  readonly revision: number;
}

/** A project in a list. */
export interface ProjectSummary extends Project {
  /**
   * 0–100: 100 minus the percentage of flags that are stale or potentially stale (older than the lifetime of their
   * type), rounded. 100 for a project without flags.
   */
  readonly health: number;
  readonly memberCount: number;
  /** The number of flags that are not archived. */
  readonly flagCount: number;
}

/** A project with its flags and counts. */
export interface ProjectOverview extends ProjectSummary {
  readonly staleCount: number;
  /** The number of flags that are not stale, but older than the lifetime of their type. */
  readonly potentiallyStaleCount: number;
  /** The flags that are not archived, in name order. */
  readonly flags: readonly FlagSummary[];
}

/** A project to create. */
export interface NewProject {
  /** The same characters as in flag names. */
  readonly id: string;
  /** 1–100 characters. */
  readonly name: string;
  /** At most 1000 characters. Default: `''`. */
  readonly description?: string;
}

/** Absent members stay unchanged. */
export interface ProjectChanges {
  readonly name?: string;
  readonly description?: string;
}

/** A user's role in a project. A user has one role per project. Users belong to the host application. */
export interface Member {
  /** A positive integer. */
  readonly userId: number;
  /** The id of a configured role. */
  readonly roleId: number;
}
