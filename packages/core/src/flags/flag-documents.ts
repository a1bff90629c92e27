import type { Aggregate, Documents } from '../changes/aggregate.js';
import { dependenciesOf, enabledEnvironments, evolveFlag, type FlagEvent, type FlagState, segmentsOf } from './flag.js';

/** What lists of flags are made of. The name is the document's id, the project its parent. */
export interface StoredFlagSummary {
  readonly type: string;
  readonly stale: boolean;
  readonly archived: boolean;
  readonly createdAt: string;
  /** Names of the environments in which the flag is on. */
  readonly enabledIn: readonly string[];
  /** Ids of the segments that it uses in any environment; absent in what was written before there were segments. */
  readonly segments?: readonly number[];
  /** Names of the flags that it depends on; absent likewise. */
  readonly parents?: readonly string[];
  /** What the archive lists; absent while the flag is not archived, and in what release 0.1 has written. */
  readonly archive?: ArchivedDetails;
}

export interface ArchivedDetails {
  readonly description: string | null;
  readonly impressionData: boolean;
  /** null: release 0.1 has archived it. */
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

/** Tells that one flag depends on another: listed under the parent, so that its children are found at once. */
export interface DependencyEdge {
  readonly parent: string;
  readonly child: string;
}

export const dependencyEdges: Documents<DependencyEdge> = { kind: 'dependency', parentOf: ({ parent }) => parent };

/** Names of flags have no spaces. */
export function edgeId({ parent, child }: DependencyEdge): string {
  return `${parent} ${child}`;
}
