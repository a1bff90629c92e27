import type { ListPage, PageQuery, ProjectRef } from '../base/common.types.js';
import { cutPage, pageBounds } from '../base/pages.js';
import type { FlagsSettings } from '../base/settings.types.js';
import type { Engine } from '../engine.js';
import { findProject } from '../projects/project.js';
import type { DocumentReader } from '../storage/documents.js';
import type { ListedDocument } from '../storage/port.js';
import { environmentOf, type FlagState, flagDocuments, type StoredFlagSummary } from './flag.js';
import type { ArchivedFlag, FlagSummary } from './flag.types.js';
import { byName, type LastSeen, readFlags, readLastSeen } from './flag-search.operations.js';

export async function listFlags(engine: Engine, ref: ProjectRef, query?: PageQuery): Promise<ListPage<FlagSummary>> {
  const bounds = pageBounds(engine, query);
  await findProject(engine.read, ref);
  const flags = await listLiveFlags(engine, ref.project);
  const page = cutPage(flags, bounds, BY_NAME);
  return { ...page, items: await summarizeFlags(engine, page.items) };
}

export async function listArchivedFlags(
  engine: Engine,
  { project }: Partial<ProjectRef> = {},
  query?: PageQuery,
): Promise<ListPage<ArchivedFlag>> {
  const bounds = pageBounds(engine, query);
  if (project !== undefined) await findProject(engine.read, { project });
  const flags = (await readFlags(engine)).filter((flag) => flag.archived && isIn(flag, project)).sort(byName);
  const page = cutPage(flags, bounds, BY_NAME);
  return { ...page, items: await summarizeArchivedFlags(engine, page.items) };
}

export const BY_NAME = { cursorOf: ({ name }: FlagState) => name };

/** Lists the flags of a project or of all projects that are not archived, in name order. */
export async function listLiveFlags(engine: Engine, project?: string): Promise<readonly FlagState[]> {
  return (await readFlags(engine)).filter((flag) => !flag.archived && isIn(flag, project)).sort(byName);
}

function isIn(flag: FlagState, project: string | undefined): boolean {
  return project === undefined || flag.project === project;
}

/** Reads the stored flags of a project, archived or not, in name order. For changes of the project. */
export async function listStoredFlags(
  { list }: Pick<DocumentReader, 'list'>,
  project: string,
): Promise<readonly ListedFlag[]> {
  return (await list({ kind: flagDocuments.kind, part: 'summary', parent: project })).map(toListedFlag);
}

/** Converts flags to public summaries with their last-seen times. */
export async function summarizeFlags(
  { usage, settings }: Engine,
  flags: readonly FlagState[],
): Promise<readonly FlagSummary[]> {
  const lastSeen = await readLastSeen(usage, flags);
  return flags.map((flag) => toSummary(flag, settings, lastSeen));
}

async function summarizeArchivedFlags(engine: Engine, flags: readonly FlagState[]): Promise<readonly ArchivedFlag[]> {
  const lastSeen = await readLastSeen(engine.usage, flags);
  return flags.map((flag) => toArchivedFlag(flag, toSummary(flag, engine.settings, lastSeen)));
}

/** A flag of a project, read from its stored summary only. */
interface ListedFlag {
  readonly name: string;
  readonly archived: boolean;
}

function toListedFlag({ key, content }: ListedDocument): ListedFlag {
  return { name: key.id, archived: (content as StoredFlagSummary).archived };
}

function toSummary(flag: FlagState, { environments }: FlagsSettings, lastSeen: LastSeen): FlagSummary {
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
function toArchivedFlag(flag: FlagState, summary: FlagSummary): ArchivedFlag {
  const { project, archivedAt = null, description, impressionData } = flag;
  return { ...summary, project, archived: true, archivedAt, description, impressionData };
}
