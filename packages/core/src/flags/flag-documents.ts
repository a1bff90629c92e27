import type { FlagRef, ProjectRef } from '../base/common.types.js';
import type { FlagsSettings } from '../base/settings.types.js';
import { FlagsError } from '../errors.js';
import { type ProjectState, projectDocuments } from '../projects/project.js';
import { type Aggregate, assertText, type Documents, type Read, type Versioned } from '../storage/documents.js';
import type { ListedDocument } from '../storage/port.js';
import type { UsageStorage } from '../storage/usage-port.js';
import {
  dependenciesOf,
  enabledEnvironments,
  environmentOf,
  evolveFlag,
  type FlagEvent,
  type FlagState,
  orderedEnvironmentOf,
  segmentsOf,
} from './flag.js';
import type { ArchivedFlag, Flag, FlagDetail, FlagSummary } from './flag.types.js';
import { toUpdate } from './metadata.decide.js';

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

interface WithSettings {
  readonly settings: FlagsSettings;
}

/** Throws `environment_not_found` unless the settings contain the environment. */
export function assertEnvironment({ settings }: WithSettings, environment: string): void {
  assertText('environment', environment);
  if (!settings.environments.some(({ name }) => name === environment))
    throwEnvironmentNotFound({ settings }, environment);
}

export function throwEnvironmentNotFound({ settings }: WithSettings, environment: string): never {
  const names = settings.environments.map(({ name }) => name).join(', ');
  throw new FlagsError('environment_not_found', `There is no environment ${environment}; there are ${names}.`);
}

/** Returns the time of a flag's last reported evaluation, as a timestamp; null if there is none. */
export type LastSeen = (flag: string) => string | null;

/** Reads the last-seen times of flags. */
export async function readLastSeen(
  usage: UsageStorage,
  flags: readonly { readonly name: string }[],
): Promise<LastSeen> {
  const times = await usage.lastSeen(flags.map(({ name }) => name));
  // A report counts many flags at one time, and converting a time takes longer than finding it.
  const texts = new Map<number, string>();
  return (flag) => {
    const time = times.get(flag);
    if (time === undefined) return null;
    const text = texts.get(time) ?? new Date(time).toISOString();
    texts.set(time, text);
    return text;
  };
}

/** Reads the last-seen time of one flag. Ignores a name that is not a string; reading the flag refuses such a name. */
export async function readLastSeenAt(usage: UsageStorage, flag: string): Promise<string | null> {
  if (typeof flag !== 'string') return null;
  const time = (await usage.lastSeen([flag])).get(flag);
  return time === undefined ? null : new Date(time).toISOString();
}

/** Converts a stored flag to the public type. */
export function toFlag({ state, revision }: Versioned<FlagState>): Flag {
  // In long lists, a spread would take several times as long.
  return Object.assign(toUpdate(state), { revision });
}

/** The inputs of a flag's details besides the flag. */
interface FlagDetailContext {
  readonly settings: FlagsSettings;
  readonly lastSeenAt: string | null;
  readonly children: readonly string[];
}

export function toDetail(found: Versioned<FlagState>, context: FlagDetailContext): FlagDetail {
  const { settings, lastSeenAt, children } = context;
  const environments = settings.environments.map(({ name }) => orderedEnvironmentOf(found.state, name));
  const dependencies = dependenciesOf(found.state);
  return Object.assign(toFlag(found), { lastSeenAt, environments, dependencies, children });
}

/** A flag of a project, read from its stored summary only. */
export interface ListedFlag {
  readonly name: string;
  readonly archived: boolean;
}

export function toListedFlag({ key, content }: ListedDocument): ListedFlag {
  return { name: key.id, archived: (content as StoredFlagSummary).archived };
}

export function toSummary(flag: FlagState, { environments }: FlagsSettings, lastSeen: LastSeen): FlagSummary {
  const { name, type, stale, createdAt } = flag;
  return {
    name,
    type,
    stale,
    createdAt,
    lastSeenAt: lastSeen(name),
    environments: environments.map(({ name, displayName }) => {
      return { name, displayName, enabled: environmentOf(flag, name).enabled };
    }),
  };
}

/** Converts an archived flag. Release 0.1 did not store the time of archiving. */
export function toArchivedFlag(flag: FlagState, summary: FlagSummary): ArchivedFlag {
  const { project, archivedAt = null, description, impressionData } = flag;
  return { ...summary, project, archived: true, archivedAt, description, impressionData };
}
