import type { Aggregate, Documents } from '../changes/documents.js';
import { dependenciesOf, enabledEnvironments, evolveFlag, type FlagEvent, type FlagState, segmentsOf } from './flag.js';

/** The summary of a flag in lists. The name is the document's id, the project its parent. */
export interface StoredFlagSummary {
  readonly type: string;
  readonly stale: boolean;
  readonly archived: boolean;
  readonly createdAt: string;
  /** Names of the environments in which the flag is enabled. */
  readonly enabledIn: readonly string[];
  /** Ids of the segments that the flag uses in any environment. Absent in documents older than segments. */
  readonly segments?: readonly number[];
  /** Names of the flags that this flag depends on. Absent in documents older than dependencies. */
  readonly parents?: readonly string[];
  /** Details for the list of archived flags. Absent if the flag is not archived, and in documents of release 0.1. */
  readonly archive?: ArchivedDetails;
}

export interface ArchivedDetails {
  readonly description: string | null;
  readonly impressionData: boolean;
  /** null if release 0.1 archived the flag. */
  readonly archivedAt: string | null;
}

export function archivedDetailsOf({ description, impressionData, archivedAt }: FlagState): ArchivedDetails {
  return { description, impressionData, archivedAt: archivedAt ?? null };
}

export const flagDocuments: Aggregate<FlagState, FlagEvent> = {
  kind: 'flag',
  evolve: evolveFlag,
  parentOf: ({ project }) => project,
  projectOf: ({ project }) => project,
  summarize: (flag): StoredFlagSummary => ({
    type: flag.type,
    stale: flag.stale,
    archived: flag.archived,
    createdAt: flag.createdAt,
    enabledIn: enabledEnvironments(flag),
    segments: segmentsOf(flag),
    parents: dependenciesOf(flag).map((dependency) => dependency.flag),
    ...(flag.archived && { archive: archivedDetailsOf(flag) }),
  }),
};

/** An index entry for a dependency, listed under the parent to find its children. */
export interface DependencyEdge {
  readonly parent: string;
  readonly child: string;
}

export const dependencyEdges: Documents<DependencyEdge> = { kind: 'dependency', parentOf: ({ parent }) => parent };

/** The separator is unambiguous, because names of flags have no spaces. */
export function edgeId({ parent, child }: DependencyEdge): string {
  return `${parent} ${child}`;
}
