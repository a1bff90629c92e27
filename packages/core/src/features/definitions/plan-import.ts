import type { StrategyRef } from '../../base/common.types.js';
import type { DomainEvent } from '../../base/domain-event.js';
import { FlagsError } from '../../base/errors.js';
import { LIMITS } from '../../base/limits.js';
import { paced } from '../../base/paced.js';
import { parseIsoDate } from '../../base/primitives.js';
import type { ChangeEngine } from '../../kernel/changes/change-engine.js';
import { createRead, type DocumentReader, type Read } from '../../storage/document-reader.js';
import { possibleDependencies } from '../flags/dependencies.operations.js';
import { newLabelIssues } from '../flags/flag.decide.js';
import { environmentOf, type FlagState } from '../flags/flag.js';
import { flagDocuments } from '../flags/flag.kind.js';
import { defaultType, rememberIds } from '../flags/flag.operations.js';
import { restoreFlag } from '../flags/flag.restorer.js';
import type { ProjectState } from '../projects/project.js';
import { projectDocuments } from '../projects/project.kind.js';
import { restoreProject } from '../projects/project.restorer.js';
import { NO_SEGMENTS, SEGMENT_REGISTRY, type SegmentState, segmentRegistries } from '../segments/segment.js';
import { segmentDocuments } from '../segments/segment.kind.js';
import { newSegmentIds } from '../segments/segment-ids.js';
import { Issues } from './check-definitions.js';
import type { DefinedFlag, DefinedProject, DefinedSegment, Definitions } from './definition.types.js';
import { flagTarget, projectTarget, rolloutsLeftAlone, segmentTarget } from './targets.decide.js';

/** A definition and its place in the document. */
export type Definition = { readonly path: string } & (
  | { readonly kind: 'project'; readonly definition: DefinedProject }
  | { readonly kind: 'segment'; readonly definition: DefinedSegment }
  | { readonly kind: 'flag'; readonly definition: DefinedFlag; readonly isPruned: boolean }
);

/** A document that an import changes. `current` is undefined for a new one. */
export type ImportedDocument =
  | { readonly kind: 'project'; readonly current: ProjectState | undefined; readonly target: ProjectState }
  | { readonly kind: 'segment'; readonly current: SegmentState | undefined; readonly target: SegmentState }
  | { readonly kind: 'flag'; readonly current: FlagState | undefined; readonly target: FlagState };

export interface ImportPlan {
  /** The definitions that differ from the store. */
  readonly items: readonly Definition[];
  readonly segments: readonly DefinedSegment[];
  /** The strategies that roll out, and whose percentage it leaves alone. */
  readonly rollouts: readonly StrategyRef[];
  /** Creation time of new documents. */
  readonly now: string;
  readonly newId: (place: string) => string;
}

interface ImportInput {
  readonly definitions: Required<Definitions>;
  /** The number of flags in the document. All further flags are pruned. */
  readonly given: number;
  readonly known: readonly KnownSegment[];
  readonly actor: string;
}

/**
 * Compares a document with the store.
 *
 * @throws FlagsError `invalid_input`, `change_set_too_large`
 */
export async function planImport(engine: ChangeEngine, input: ImportInput): Promise<ImportPlan> {
  const { definitions, given, known, actor } = input;
  const plan = { segments: definitions.segments, now: engine.now().toISOString(), newId: rememberIds(engine.newId) };
  const segments = await segmentsFor(engine, plan, known);
  const issues = new Issues();
  const references = createReferences(engine, definitions, segments);
  // A plan holds the current states of all its documents.
  const read = createRead(engine.storage);
  const items: Definition[] = [];
  const rollouts: StrategyRef[] = [];
  for await (const one of paced(toList(definitions, given))) {
    if (issues.isFull) break;
    const problems = await references.check(one);
    for (const { path, message } of problems) issues.add(`${one.path}${path}`, message);
    if (problems.length > 0) continue;
    const planned = await readTarget(engine, read, { item: one, plan, segments, actor });
    if (!planned) continue;
    if (one.kind === 'flag' && planned.kind === 'flag' && planned.current) {
      rollouts.push(...rolloutsLeftAlone(one.definition, planned.current, planned.target));
    }
    for (const { path, message } of findTargetIssues(one, planned)) issues.add(`${one.path}${path}`, message);
    if (!isChange(engine, planned)) continue;
    const bytes = Buffer.byteLength(JSON.stringify(planned.target));
    if (bytes > LIMITS.documentBytes) {
      issues.add(one.path, `would have ${bytes} bytes, but may have at most ${LIMITS.documentBytes}`);
    }
    items.push(one);
  }
  issues.assertNone();
  if (items.length > LIMITS.documentsPerImport) throw importTooLarge(items.length);
  return { ...plan, items, rollouts };
}

function* toList({ projects, segments, flags }: Required<Definitions>, given: number): Generator<Definition> {
  for (const [index, definition] of projects.entries()) {
    yield { kind: 'project', path: `/projects/${index}`, definition };
  }
  for (const [index, definition] of segments.entries()) {
    yield { kind: 'segment', path: `/segments/${index}`, definition };
  }
  for (const [index, definition] of flags.entries()) {
    const isPruned = index >= given;
    yield { kind: 'flag', path: isPruned ? '' : `/flags/${index}`, definition, isPruned };
  }
}

export function segmentsFor(
  documents: SegmentSources,
  { segments }: Pick<ImportPlan, 'segments'>,
  known: readonly KnownSegment[],
): Promise<SegmentIds> {
  return findSegmentIds(documents, known, segments);
}

/** The registry of segments, and the log of all that have ever been created. */
type SegmentSources = Pick<DocumentReader, 'read'> & Pick<ChangeEngine, 'storage'>;

interface TargetInput {
  readonly item: Definition;
  readonly plan: Omit<ImportPlan, 'items' | 'rollouts'>;
  readonly segments: SegmentIds;
  readonly actor: string;
}

/** Reads the current state, and returns it with the target state. Undefined for a pruned flag that was deleted. */
export async function readTarget(
  engine: ChangeEngine,
  read: Read,
  { item, plan, segments, actor }: TargetInput,
): Promise<ImportedDocument | undefined> {
  const { now, newId } = plan;
  if (item.kind === 'project') {
    const current = (await read(projectDocuments, item.definition.id))?.state;
    return { kind: 'project', current, target: projectTarget(item.definition, current, { now }) };
  }
  if (item.kind === 'segment') {
    const id = segments.of(item.definition);
    const current = (await read(segmentDocuments, `${id}`))?.state;
    return { kind: 'segment', current, target: segmentTarget(item.definition, current, { id, now, actor }) };
  }
  const current = (await read(flagDocuments, item.definition.name))?.state;
  if (item.isPruned && !current) return undefined;
  const segmentId = (reference: string | number) => segments.resolve(reference) ?? 0;
  const target = flagTarget(item.definition, current, {
    now,
    actor,
    newId,
    defaultType: defaultType(engine),
    segmentId,
  });
  const isRevived = current?.archived === true && !target.archived;
  if (!isRevived || item.definition.dependencies) return { kind: 'flag', current, target };
  const dependencies = await possibleDependencies({ read, list: engine.list }, { source: current, name: current.name });
  return { kind: 'flag', current, target: { ...target, dependencies } };
}

function isChange({ registry }: ChangeEngine, { kind, current, target }: ImportedDocument): boolean {
  return (registry.restorerOf(kind)?.eventsBetween(current, target).length ?? 0) > 0;
}

function importTooLarge(count: number): FlagsError {
  const message = `The document changes ${count} projects, segments and flags, and one import may change ${LIMITS.documentsPerImport}; import by project.`;
  return new FlagsError('change_set_too_large', message);
}

/** Returns the events that would bring an empty document to a new one. */
export function contentEvents({ kind, target }: ImportedDocument): readonly DomainEvent[] {
  if (kind === 'segment') return [];
  if (kind === 'project') return restoreProject({ ...target, members: [] }, target);
  const empty = { ...target, stale: false, archived: false, variants: [], dependencies: [], environments: [] };
  return restoreFlag(empty, target);
}

type Problem = { readonly path: string; readonly message: string };

/** Checks that references name something in the document or in the store. */
function createReferences(engine: ChangeEngine, { projects, flags }: Required<Definitions>, segments: SegmentIds) {
  const { settings, read } = engine;
  const types = settings.flagTypes.map(({ name }) => name);
  const projectIds = new Set(projects.map(({ id }) => id));
  const flagNames = new Set(flags.map(({ name }) => name));

  async function checkProject(project: string | null | undefined): Promise<Problem[]> {
    if (project === null || project === undefined || projectIds.has(project)) return [];
    if (await read(projectDocuments, project)) {
      projectIds.add(project);
      return [];
    }
    return [
      {
        path: '/project',
        message: `names the project ${project}, which exists neither in the document nor in the store`,
      },
    ];
  }

  async function checkMembers({ id, members = [] }: DefinedProject): Promise<Problem[]> {
    const current = (await read(projectDocuments, id))?.state.members ?? [];
    const problems: Problem[] = [];
    for (const [index, { userId, roleId }] of members.entries()) {
      const known = current.find((member) => member.userId === userId);
      if (known?.roleId === roleId) continue;
      if (!settings.roles.some((role) => role.id === roleId)) {
        const roles = settings.roles.map((role) => `${role.id} ${role.name}`).join(', ');
        problems.push({ path: `/members/${index}/roleId`, message: `must be a configured role: ${roles}` });
      }
      if (!known && !(await engine.isUser(userId))) {
        problems.push({ path: `/members/${index}/userId`, message: `names the user ${userId}, who does not exist` });
      }
    }
    return problems;
  }

  async function checkFlag(flag: DefinedFlag): Promise<Problem[]> {
    const { type, dependencies = [], environments = {} } = flag;
    const problems = await checkProject(flag.project);
    if (type !== undefined && !types.includes(type)) {
      const current = (await read(flagDocuments, flag.name))?.state.type;
      if (current !== type) problems.push({ path: '/type', message: `must be one of ${types.join(', ')}` });
    }
    for (const [index, { flag: parent }] of dependencies.entries()) {
      if (flagNames.has(parent) || flag.archived || (await read(flagDocuments, parent))) continue;
      const message = `names the flag ${parent}, which exists neither in the document nor in the store`;
      problems.push({ path: `/dependencies/${index}/flag`, message });
    }
    for (const [name, { strategies = [] }] of Object.entries(environments)) {
      for (const [index, strategy] of strategies.entries()) {
        for (const [place, reference] of (strategy.segments ?? []).entries()) {
          if (segments.resolve(reference) !== undefined) continue;
          const path = `/environments/${name}/strategies/${index}/segments/${place}`;
          problems.push({
            path,
            message: `names the segment ${reference}, which exists neither in the document nor in the store`,
          });
        }
      }
    }
    return problems;
  }

  return {
    check(item: Definition): Promise<Problem[]> {
      if (item.kind === 'project') return checkMembers(item.definition);
      return item.kind === 'segment' ? checkProject(item.definition.project) : checkFlag(item.definition);
    },
  };
}

function findTargetIssues(item: Definition, planned: ImportedDocument): readonly Problem[] {
  if (planned.kind === 'project' && !planned.current && planned.target.id === '*') {
    return [{ path: '/id', message: 'must not be *, which means all projects' }];
  }
  if (item.kind !== 'flag' || planned.kind !== 'flag') return [];
  const problems: Problem[] = [...newLabelIssues(planned.target.labels, planned.current?.labels)];
  for (const [name, { enabled }] of Object.entries(item.definition.environments ?? {})) {
    if (!enabled || environmentOf(planned.target, name).enabled) continue;
    problems.push({ path: `/environments/${name}/enabled`, message: 'must be false without a strategy' });
  }
  return problems;
}

/** The identifying members of a stored segment. */
export type KnownSegment = Pick<SegmentState, 'id' | 'name' | 'createdAt'>;

/** The ids of segments, by their names in the store and in a document. */
interface SegmentIds {
  /** Returns the id of a definition's segment, present or new. */
  of(definition: DefinedSegment): number;
  /** Returns the id that a strategy's reference means; undefined if there is no such segment. */
  resolve(reference: string | number): number | undefined;
}

/**
 * Finds the segments of a document, and gives ids to new ones. A definition refers to the segment with its name, or to
 * a renamed one with its id and creation time. A new segment keeps its id unless another segment has it, or it is beyond
 * the limit.
 */
async function findSegmentIds(
  { read, storage }: SegmentSources,
  known: readonly KnownSegment[],
  definitions: readonly DefinedSegment[],
): Promise<SegmentIds> {
  const { lastId } = (await read(segmentRegistries, SEGMENT_REGISTRY))?.state ?? NO_SEGMENTS;
  const byName = new Map(known.map((one) => [one.name, one.id]));
  const byId = new Map(known.map((one) => [one.id, one]));
  const wanted = new Set(definitions.map(({ name }) => name));
  const ids = new Map<string, number>();
  const taken = new Set(byId.keys());
  for (const definition of definitions) {
    const { id, name, createdAt } = definition;
    const same = id === undefined ? undefined : byId.get(id);
    const isRenamed = same !== undefined && !wanted.has(same.name) && isSameTime(same.createdAt, createdAt);
    const found = byName.get(name) ?? (isRenamed ? same.id : undefined);
    if (found !== undefined) ids.set(name, found);
    else if (id !== undefined && id <= LIMITS.segmentId && !taken.has(id)) ids.set(name, id);
    const assigned = ids.get(name);
    if (assigned !== undefined) taken.add(assigned);
  }
  const unnumbered = definitions.filter(({ name }) => !ids.has(name));
  const fresh = await newSegmentIds(storage, {
    count: unnumbered.length,
    lastId: [...ids.values()].reduce((highest, id) => Math.max(highest, id), lastId),
    taken,
  });
  for (const [index, { name }] of unnumbered.entries()) ids.set(name, fresh[index] as number);
  const named = new Map(definitions.flatMap(({ id, name }) => (id === undefined ? [] : [[id, name] as const])));
  return {
    of: ({ name }) => ids.get(name) as number,
    resolve(reference) {
      if (typeof reference === 'string') return ids.get(reference) ?? byName.get(reference);
      const name = named.get(reference);
      if (name !== undefined) return ids.get(name);
      return byId.has(reference) ? reference : undefined;
    },
  };
}

function isSameTime(one: string, other: string | undefined): boolean {
  // Without an offset, a given time is UTC, as when it is stored.
  return other !== undefined && parseIsoDate(one) === parseIsoDate(other);
}
