import type { Page, PageQuery, ProjectRef } from '../base/common.types.js';
import type { DocumentReader } from '../changesets/documents.js';
import type { Engine } from '../changesets/engine.js';
import { cutPage, pageBounds } from '../pages.js';
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
import { byName, readFlags, searchFlags } from './flag-search.operations.js';
import type { FlagPage, FlagQuery } from './flag-search.types.js';

export function listFlags(engine: Engine, ref: ProjectRef): Promise<readonly FlagSummary[]>;
export function listFlags(engine: Engine, ref: ProjectRef, page: PageQuery): Promise<Page<FlagSummary>>;
export function listFlags(engine: Engine, ref: { readonly project?: never }, query?: FlagQuery): Promise<FlagPage>;
export async function listFlags(
  engine: Engine,
  ref: Partial<ProjectRef>,
  query?: FlagQuery,
): Promise<readonly FlagSummary[] | Page<FlagSummary> | FlagPage> {
  // `{ project: undefined }` is a mistake, and must not list the flags of all projects.
  return 'project' in ref ? listProjectFlags(engine, ref as ProjectRef, query) : searchFlags(engine, query);
}

async function listProjectFlags(
  engine: Engine,
  ref: ProjectRef,
  query: PageQuery | undefined,
): Promise<readonly FlagSummary[] | Page<FlagSummary>> {
  const bounds = query && pageBounds(engine, query);
  await findProject(engine.read, ref);
  const flags = await listLiveFlags(engine, ref.project);
  if (!bounds) return summarizeFlags(engine, flags);
  const page = cutPage(flags, bounds, BY_NAME);
  return { ...page, items: await summarizeFlags(engine, page.items) };
}

export function listArchivedFlags(engine: Engine, ref?: Partial<ProjectRef>): Promise<readonly ArchivedFlag[]>;
export function listArchivedFlags(
  engine: Engine,
  ref: Partial<ProjectRef>,
  page: PageQuery,
): Promise<Page<ArchivedFlag>>;
export async function listArchivedFlags(
  engine: Engine,
  { project }: Partial<ProjectRef> = {},
  query?: PageQuery,
): Promise<readonly ArchivedFlag[] | Page<ArchivedFlag>> {
  const bounds = query && pageBounds(engine, query);
  if (project !== undefined) await findProject(engine.read, { project });
  const flags = (await readFlags(engine)).filter((flag) => flag.archived && isIn(flag, project)).sort(byName);
  if (!bounds) return summarizeArchivedFlags(engine, flags);
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
