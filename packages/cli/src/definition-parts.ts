import {
  type DefinedFlag,
  type Definitions,
  type Flags,
  type FlagsOptions,
  type ImportResult,
  isFlagsError,
  LIMITS,
  memoryStorage,
  openFlags,
  type Rollout,
} from '@flags/core';
import { loadDefinitions } from '@flags/core/integration/http';
import type { ApprovalPolicy } from '@flags/core/types';

/** The parts of a document that is too large for one import, and what they change together. */
export interface PlannedParts
  extends Required<Pick<ImportResult, 'differences' | 'effects' | 'rollouts' | 'approval'>> {
  /** Documents that are imported one after the other. Each import is one change set. */
  readonly parts: readonly Definitions[];
}

/** What a store has beside its definitions. */
export interface StoredBeside {
  readonly rollouts: readonly Pick<Rollout, 'ref' | 'percentage'>[];
  readonly policy: ApprovalPolicy;
}

/** The bytes of a document in one request: a server reads at most 1 MiB. */
export const MAX_BODY = 900_000;

/**
 * Imports a document part by part into a copy of the store in memory. Projects and segments come first, then the flags
 * of each project, together if they fit. In a larger project, parents come before children, and flags to archive last.
 *
 * @throws FlagsError of an invalid document, or of a part that needs a later one
 */
export async function planInParts(
  options: Omit<FlagsOptions, 'storage'>,
  current: Definitions,
  {
    document,
    prune,
    beside,
  }: { readonly document: Definitions; readonly prune: boolean; readonly beside: StoredBeside },
): Promise<PlannedParts> {
  const flags = await openFlags({ ...options, due: { run: 'elsewhere' }, storage: memoryStorage() });
  try {
    for (const items of toParts(current, { version: 1 })) await loadItems(flags, items);
    for (const { ref, percentage } of beside.rollouts) {
      await flags.rollouts.start(ref, { steps: [{ percentage, hold: null }] });
    }
    await flags.approvalPolicy.set(beside.policy);
    await assertValid(flags, document);
    const planned: PlannedPart[] = [];
    for (const items of toParts(prune ? withPruned(document, current) : document, current)) {
      planned.push(...(await importItems(flags, items)));
    }
    return {
      parts: planned.filter(({ differences }) => differences.length > 0).map(({ part }) => part),
      differences: planned.flatMap(({ differences }) => differences),
      effects: joinEffects(planned.flatMap(({ effects = [] }) => effects)),
      rollouts: planned.flatMap(({ rollouts }) => rollouts),
      approval: joinApprovals(planned.map(({ approval = null }) => approval)),
    };
  } finally {
    await flags.close();
  }
}

export function isTooLarge(error: unknown): boolean {
  return Object(error).code === 'change_set_too_large';
}

/** Finds faults in the whole document, because their places in a part would be others. */
async function assertValid(flags: Flags, document: Definitions): Promise<void> {
  try {
    await flags.definitions.import(document, { dryRun: true });
  } catch (error) {
    if (isFlagsError(error) && error.code === 'invalid_input') throw error;
  }
}

/** Loads stored items, or their halves if they are too large for one import. */
async function loadItems(flags: Flags, items: readonly Item[]): Promise<void> {
  try {
    await loadDefinitions(flags, toDefinitions(items));
  } catch (error) {
    if (!isTooLarge(error) || items.length === 1) throw error;
    const middle = Math.ceil(items.length / 2);
    await loadItems(flags, items.slice(0, middle));
    await loadItems(flags, items.slice(middle));
  }
}

type PlannedPart = ImportResult & { readonly part: Definitions };

/** Imports items, or their halves if they are too large for one import. */
async function importItems(flags: Flags, items: readonly Item[]): Promise<readonly PlannedPart[]> {
  const part = toDefinitions(items);
  try {
    const plan = await flags.definitions.import(part, { dryRun: true });
    await flags.definitions.import(part, { bypassApproval: 'A plan' });
    return [{ ...plan, part }];
  } catch (error) {
    if (!isTooLarge(error) || items.length === 1) throw error;
    const middle = Math.ceil(items.length / 2);
    const first = await importItems(flags, items.slice(0, middle));
    return [...first, ...(await importItems(flags, items.slice(middle)))];
  }
}

/** Joins the effects that several parts have on one flag: the state before the first, and after the last one. */
function joinEffects(effects: PlannedParts['effects']): PlannedParts['effects'] {
  const joined = new Map<string, PlannedParts['effects'][number]>();
  for (const effect of effects) {
    const key = JSON.stringify([effect.project, effect.flag, effect.environment]);
    const { before } = joined.get(key) ?? effect;
    joined.set(key, { ...effect, before, ...(before === effect.after && { changed: true }) });
  }
  return [...joined.values()];
}

/** Joins the approvals that several parts need. */
function joinApprovals(approvals: readonly PlannedParts['approval'][]): PlannedParts['approval'] {
  const needed = approvals.filter((one) => one !== null);
  if (needed.length === 0) return null;
  const environments = new Set(needed.flatMap((one) => one.environments));
  return { required: Math.max(...needed.map(({ required }) => required)), environments: [...environments] };
}

/** A project, segment or flag of a document. */
interface Item {
  readonly member: 'projects' | 'segments' | 'flags';
  readonly item: object;
  readonly bytes: number;
}

function toItems(member: Item['member'], items: readonly object[]): readonly Item[] {
  return items.map((item) => ({ member, item, bytes: sizeOf(item) + 1 }));
}

function toDefinitions(items: readonly Item[]): Definitions {
  const of = (member: Item['member']) => items.filter((one) => one.member === member).map(({ item }) => item);
  return { version: 1, projects: of('projects'), segments: of('segments'), flags: of('flags') } as Definitions;
}

/** Divides a document. A group of items that fits into one part is never divided. */
function toParts(document: Definitions, current: Definitions): readonly (readonly Item[])[] {
  const parts: Item[][] = [];
  for (const group of toGroups(document, current)) {
    const last = parts.at(-1);
    if (last && fits([...last, ...group])) last.push(...group);
    else parts.push(...cut(group));
  }
  return parts;
}

function toGroups({ projects = [], segments = [], flags = [] }: Definitions, current: Definitions): Item[][] {
  const known = new Map(current.flags?.map((flag) => [flag.name, flag]));
  const byProject = new Map<string, DefinedFlag[]>();
  for (const flag of flags) {
    const project = flag.project ?? known.get(flag.name)?.project ?? 'default';
    byProject.set(project, [...(byProject.get(project) ?? []), flag]);
  }
  const ordered = [...byProject.values()].map((all) => {
    return all.sort((one, other) => rankOf(one, known.get(one.name)) - rankOf(other, known.get(other.name)));
  });
  const narrowed = new Set(segments.filter((segment) => isNarrowed(segment, current)));
  return [
    [
      ...toItems('projects', projects),
      ...toItems(
        'segments',
        segments.filter((segment) => !narrowed.has(segment)),
      ),
    ],
    ...ordered.map((all) => [...toItems('flags', all)]),
    [...toItems('segments', [...narrowed])],
  ];
}

/** A parent must not have parents itself: flags lose their parents first, and get them last. */
function rankOf({ archived, dependencies }: DefinedFlag, current: DefinedFlag | undefined): number {
  const had = (current?.dependencies?.length ?? 0) > 0;
  const isChild = dependencies === undefined ? had : dependencies.length > 0;
  if (archived === true) return isChild ? 3 : 4;
  if (!isChild) return 0;
  return had ? 1 : 2;
}

/** Whether a segment gets a project: the flags of other projects must stop using it first. */
function isNarrowed(
  { name, project }: NonNullable<Definitions['segments']>[number],
  { segments = [] }: Definitions,
): boolean {
  const current = segments.find((segment) => segment.name === name);
  return current !== undefined && typeof project === 'string' && project !== current.project;
}

function cut(items: readonly Item[]): Item[][] {
  const parts: Item[][] = [];
  let bytes = 0;
  for (const item of items) {
    const last = parts.at(-1);
    bytes += item.bytes;
    if (last && last.length < LIMITS.documentsPerImport && bytes <= MAX_BODY) {
      last.push(item);
    } else {
      parts.push([item]);
      bytes = item.bytes;
    }
  }
  return parts;
}

function fits(items: readonly Item[]): boolean {
  return items.length <= LIMITS.documentsPerImport && items.reduce((sum, { bytes }) => sum + bytes, 0) <= MAX_BODY;
}

/** Sets the archived state of every flag, because an import in parts cannot prune. */
function withPruned(document: Definitions, current: Definitions): Definitions {
  const { projects = [], flags = [] } = document;
  const known = new Map(current.flags?.map((flag) => [flag.name, flag]));
  const present = new Set(flags.map(({ name }) => name));
  const named = new Set([
    ...projects.map(({ id }) => id),
    ...flags.map(({ name, project }) => project ?? known.get(name)?.project ?? 'default'),
  ]);
  const absent = [...known.values()].filter(
    ({ name, project = 'default', archived }) => archived !== true && named.has(project) && !present.has(name),
  );
  const archived = absent.map(({ name, project }) => ({ name, ...(project && { project }), archived: true }));
  return { ...document, flags: [...flags.map((flag) => ({ archived: false, ...flag })), ...archived] };
}

export function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '');
}
