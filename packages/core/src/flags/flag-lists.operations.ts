import type { ListPage, PageQuery, ProjectRef } from '../base/common.types.js';
import { cutPage, pageBounds } from '../base/pages.js';
import type { Engine } from '../engine.js';
import type { DocumentReader } from '../storage/documents.js';
import type { FlagState } from './flag.js';
import type { ArchivedFlag, FlagSummary } from './flag.types.js';
import {
  findProject,
  flagDocuments,
  type ListedFlag,
  readLastSeen,
  toArchivedFlag,
  toListedFlag,
  toSummary,
} from './flag-documents.js';
import { byName, readFlags } from './flag-search.operations.js';

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
