import type { Page, PageQuery, ProjectRef } from '../base/common.types.js';
import type { DocumentReader } from '../changesets/documents.js';
import type { Engine } from '../changesets/engine.js';
import { pageBounds, readPage } from '../pages.js';
import type { ListedDocument } from '../storage/port.js';
import type { ArchivedFlag, FlagSummary } from './flag.types.js';
import {
  type ArchivedDetails,
  archivedDetailsOf,
  findProject,
  flagDocuments,
  type ListedFlag,
  readLastSeen,
  type StoredFlagSummary,
  toArchivedFlag,
  toListedFlag,
  toSummary,
} from './flag-documents.js';
import { searchFlags } from './flag-search.operations.js';
import type { FlagPage, FlagQuery } from './flag-search.types.js';

export function listFlags(engine: Engine, ref: ProjectRef): Promise<readonly FlagSummary[]>;
export function listFlags(engine: Engine, ref: ProjectRef, page: PageQuery): Promise<Page<FlagSummary>>;
export function listFlags(engine: Engine, ref: { readonly project?: never }, query?: FlagQuery): Promise<FlagPage>;
export async function listFlags(
  engine: Engine,
  ref: Partial<ProjectRef>,
  query?: FlagQuery,
): Promise<readonly FlagSummary[] | Page<FlagSummary> | FlagPage> {
  // A project that is undefined by mistake must not list the flags of all projects.
  return 'project' in ref ? listProjectFlags(engine, ref as ProjectRef, query) : searchFlags(engine, query);
}

async function listProjectFlags(
  engine: Engine,
  ref: ProjectRef,
  query: PageQuery | undefined,
): Promise<readonly FlagSummary[] | Page<FlagSummary>> {
  const { read, storage } = engine;
  const bounds = query && pageBounds(engine, query);
  await findProject(read, ref);
  if (!bounds) return summarizeFlags(engine, await listLiveFlags(engine, ref.project));
  const page = await readPage(storage, { ...SUMMARIES, parent: ref.project, ...bounds }, isLive);
  return { ...page, items: await summarizeFlags(engine, page.items.map(toListedFlag)) };
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
  const { read, storage } = engine;
  const bounds = query && pageBounds(engine, query);
  if (project !== undefined) await findProject(read, { project });
  if (!bounds) {
    const flags = (await listStoredFlags(engine, project)).filter(({ archived }) => archived);
    return summarizeArchivedFlags(engine, flags);
  }
  const under = project === undefined ? {} : { parent: project };
  const page = await readPage(storage, { ...SUMMARIES, ...under, ...bounds }, isArchived);
  return { ...page, items: await summarizeArchivedFlags(engine, page.items.map(toListedFlag)) };
}

/** Lists the flags of a project or of all projects that are not archived, in name order. */
export async function listLiveFlags(engine: Engine, project?: string): Promise<readonly ListedFlag[]> {
  return (await listStoredFlags(engine, project)).filter(({ archived }) => !archived);
}

/** Lists the flags of a project or of all projects, archived or not, in name order. */
export async function listStoredFlags(
  { list }: Pick<DocumentReader, 'list'>,
  project?: string,
): Promise<readonly ListedFlag[]> {
  const under = project === undefined ? {} : { parent: project };
  return (await list({ kind: flagDocuments.kind, part: 'summary', ...under })).map(toListedFlag);
}

/** Converts listed flags to public summaries with their last-seen times. */
export async function summarizeFlags(
  { usage, settings }: Engine,
  flags: readonly ListedFlag[],
): Promise<readonly FlagSummary[]> {
  const lastSeen = await readLastSeen(usage, flags);
  return flags.map((flag) => toSummary(flag, settings, lastSeen));
}

async function summarizeArchivedFlags(engine: Engine, flags: readonly ListedFlag[]): Promise<readonly ArchivedFlag[]> {
  const summaries = await summarizeFlags(engine, flags);
  const archived: ArchivedFlag[] = [];
  for (const [index, summary] of summaries.entries()) {
    const { name, project, archive } = flags[index] as ListedFlag;
    const details = archive ?? (await readArchivedDetails(engine, name));
    if (details) archived.push(toArchivedFlag(summary, project, details));
  }
  return archived;
}

/** Reads the details of a flag that release 0.1 archived. Undefined if the flag has been deleted since the listing. */
async function readArchivedDetails({ read }: Engine, name: string): Promise<ArchivedDetails | undefined> {
  const found = await read(flagDocuments, name);
  return found && archivedDetailsOf(found.state);
}

const SUMMARIES = { kind: flagDocuments.kind, part: 'summary' } as const;

function isArchived({ content }: ListedDocument): boolean {
  return (content as StoredFlagSummary).archived;
}

function isLive(document: ListedDocument): boolean {
  return !isArchived(document);
}
