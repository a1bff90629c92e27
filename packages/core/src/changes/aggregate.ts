import type { DomainEvent } from '../events/event.types.js';
import {
  dependenciesOf,
  enabledEnvironments,
  evolveFlag,
  type FlagEvent,
  type FlagState,
  segmentsOf,
} from '../flags/flag.js';
import { evolveProject, type ProjectEvent, type ProjectState } from '../projects/project.js';
import { evolveSegment, type SegmentEvent, type SegmentState } from '../segments/segment.js';
import type { SegmentRegistry } from '../segments/segment-registry.js';
import { evolveToken, type StoredToken, type TokenEvent, type TokenState, withoutHash } from '../tokens/token.js';

/** A kind of document that can be read. */
export interface Documents<State> {
  readonly kind: string;
  /** What the document is listed under. */
  readonly parentOf: (state: State) => string | null;
}

/** A kind of document that can be changed: how its events make its state, and how that state is stored and listed. */
export interface Aggregate<State, Event extends DomainEvent> extends Documents<State> {
  /** The state after an event; undefined before the first and after a deletion. */
  readonly evolve: (state: State | undefined, event: Event) => State | undefined;
  /** The project that its events belong to. */
  readonly projectOf: (state: State) => string | null;
  /** What lists need of it. */
  readonly summarize: (state: State) => unknown;
}

/** What a document has become. */
export interface DocumentUpdate {
  readonly revision: number;
  /** Undefined when it was deleted. */
  readonly state: unknown;
  /** As it was when it was read, where the state was made of it. */
  readonly before?: Versioned<unknown> | undefined;
}

/** A document's state, with the revision at which it is, or was read. */
export interface Versioned<State> {
  readonly state: State;
  readonly revision: number;
}

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

/** What the list of projects is made of. The id is the document's. */
export interface StoredProjectSummary {
  readonly name: string;
  readonly description: string;
  readonly createdAt: string;
  readonly memberCount: number;
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

export const projectDocuments: Aggregate<ProjectState, ProjectEvent> = {
  kind: 'project',
  evolve: evolveProject,
  parentOf: () => null,
  projectOf: ({ id }) => id,
  summarize: ({ name, description, createdAt, members }): StoredProjectSummary => ({
    name,
    description,
    createdAt,
    memberCount: members.length,
  }),
};

export const tokenDocuments: Aggregate<TokenState, TokenEvent> = {
  kind: 'token',
  evolve: evolveToken,
  parentOf: projectOfToken,
  projectOf: projectOfToken,
  summarize: (token): StoredToken => withoutHash(token),
};

/** Lists show segments whole. */
export const segmentDocuments: Aggregate<SegmentState, SegmentEvent> = {
  kind: 'segment',
  evolve: evolveSegment,
  parentOf: ({ project }) => project ?? null,
  projectOf: ({ project }) => project ?? null,
  summarize: () => null,
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

/** There is one, with the id {@link SEGMENT_REGISTRY}. */
export const segmentRegistries: Documents<SegmentRegistry> = { kind: 'segment-registry', parentOf: () => null };
export const SEGMENT_REGISTRY = 'all';

/** Every new token writes it: those who give out a name at the same moment do so one after the other. */
export interface TokenRegistry {
  /** The id of the token that was created last. */
  readonly lastToken: string;
}

/** There is one, with the id {@link TOKEN_REGISTRY}. */
export const tokenRegistries: Documents<TokenRegistry> = { kind: 'token-registry', parentOf: () => null };
export const TOKEN_REGISTRY = 'all';

/** A token of several projects belongs to none of them alone. */
function projectOfToken({ project, projects }: StoredToken): string | null {
  return project === '*' || projects !== undefined ? null : project;
}
