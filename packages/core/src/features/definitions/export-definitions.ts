import type { Awaitable } from '../../base/common.types.js';
import { copyJson } from '../../base/json.js';
import { memoizeAsync } from '../../base/memoize.js';
import { pause } from '../../base/paced.js';
import type { EnvironmentEngine } from '../environments/plan.operations.js';
import { type FlagState, membersOf } from '../flags/flag.js';
import { flagDocuments } from '../flags/flag.kind.js';
import type { Strategy } from '../flags/strategy.types.js';
import type { ProjectState } from '../projects/project.js';
import { findProject, projectDocuments } from '../projects/project.kind.js';
import type { SegmentState } from '../segments/segment.js';
import { segmentDocuments } from '../segments/segment.kind.js';
import type {
  DefinedEnvironment,
  DefinedFlag,
  DefinedSegment,
  DefinedStrategy,
  Definitions,
  ExportQuery,
} from './definition.types.js';

/** A storage parses all documents of a read in one go, and each may have 1 MiB. */
const DOCUMENTS_PER_READ = 8;

/** Returns whether the caller may read a project; null: segments of the instance. */
export type CanReadDefinitions = (project: string | null) => Awaitable<boolean>;

interface ExportOptions {
  /** If it returns false, the project and everything in it are left out. */
  readonly canRead?: CanReadDefinitions;
  /** The caller does not change the result, so it may share parts with the documents in memory. */
  readonly isReadOnly?: boolean;
}

export async function exportDefinitions(
  engine: EnvironmentEngine,
  query: ExportQuery = {},
  { canRead = () => true, isReadOnly = false }: ExportOptions = {},
): Promise<Definitions> {
  const own = <Definition>(definition: Definition) => (isReadOnly ? definition : (copyJson(definition) as Definition));
  const isIncluded = await createFilter(engine, query, canRead);
  const projects: ProjectState[] = [];
  for await (const project of readDocumentsOfKind<ProjectState>(engine, projectDocuments.kind)) {
    if (await isIncluded(project.id)) projects.push(own(project));
  }
  const segments: SegmentState[] = [];
  for await (const segment of readDocumentsOfKind<SegmentState>(engine, segmentDocuments.kind)) {
    if (await isIncluded(segment.project ?? null)) segments.push(own(segment));
  }
  const names = new Map(segments.map(({ id, name }) => [id, name]));
  const nameOf = (id: number) => names.get(id) ?? id;
  const environments = engine.settings.environments.map(({ name }) => name);
  const flags: DefinedFlag[] = [];
  for await (const flag of readDocumentsOfKind<FlagState>(engine, flagDocuments.kind)) {
    if (await isIncluded(flag.project)) flags.push(own(toFlagDefinition(flag, { environments, nameOf })));
  }
  segments.sort((one, other) => one.id - other.id);
  return { version: 1, projects, segments: segments.map(toSegmentDefinition), flags };
}

/**
 * Yields the documents of a kind in the order of their ids, in slices. Those that are in memory are not copied, because
 * copies would double the memory: callers must not change them.
 */
export async function* readDocumentsOfKind<State>(
  { storage, memory }: EnvironmentEngine,
  kind: string,
): AsyncGenerator<State> {
  let after: string | undefined;
  for (;;) {
    await pause();
    const page = await storage.list({
      kind,
      part: 'body',
      limit: DOCUMENTS_PER_READ,
      ...(after !== undefined && { after }),
    });
    for (const { key, revision, content } of page) {
      const known = memory.get(key);
      yield (known?.revision === revision ? known.state : content) as State;
    }
    after = page.at(-1)?.key.id;
    if (page.length < DOCUMENTS_PER_READ) return;
  }
}

type Filter = (project: string | null) => Promise<boolean>;

async function createFilter(
  { read }: EnvironmentEngine,
  { project }: ExportQuery,
  canRead: CanReadDefinitions,
): Promise<Filter> {
  const named = project === undefined ? undefined : [project].flat();
  for (const id of named ?? []) await findProject(read, { project: id });
  return memoizeAsync(async (id) => (named && id !== null && !named.includes(id) ? false : canRead(id)));
}

function toSegmentDefinition({ id, name, description, constraints, project, createdAt, createdBy }: SegmentState) {
  const definition: DefinedSegment = {
    id,
    name,
    description,
    project: project ?? null,
    constraints,
    createdAt,
    createdBy,
  };
  return definition;
}

interface FlagContext {
  /** The configured environments. */
  readonly environments: readonly string[];
  readonly nameOf: (segment: number) => string | number;
}

function toFlagDefinition(flag: FlagState, { environments, nameOf }: FlagContext): DefinedFlag {
  const { name, project, archived, archivedAt, createdAt, variants } = flag;
  const { type, description, labels, owner, ...members } = membersOf(flag);
  const configured = flag.environments.filter((environment) => environments.includes(environment.name));
  return {
    name,
    project,
    type,
    description,
    labels,
    owner,
    ...members,
    archived,
    ...(archivedAt !== undefined && { archivedAt }),
    createdAt,
    variants,
    dependencies: flag.dependencies,
    environments: Object.fromEntries(
      configured.map(({ name, enabled, strategies }): [string, DefinedEnvironment] => [
        name,
        {
          enabled,
          strategies: strategies.map((strategy) => toStrategyDefinition(strategy, nameOf)),
        },
      ]),
    ),
  };
}

/** Copies a strategy only if it uses segments. */
function toStrategyDefinition(strategy: Strategy, nameOf: FlagContext['nameOf']): DefinedStrategy {
  const { segments } = strategy;
  if (!segments?.length) return strategy;
  return { ...strategy, segments: segments.map(nameOf) };
}
