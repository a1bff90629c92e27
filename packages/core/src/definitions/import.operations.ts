import type { DomainEvent } from '../base/domain-event.js';
import { isSameJson } from '../base/json.js';
import { LIMITS } from '../base/limits.js';
import { paced } from '../base/paced.js';
import { invalidInput } from '../base/validator.js';
import type { PlannedDocument, PlannedEvent, PlannedSet } from '../changesets/change-set.types.js';
import { readCommittedSet, readLoggedDocuments, readSet } from '../changesets/change-set-log.js';
import type { ChangeEngine, SetContext, UnattributedContext } from '../changesets/engine.js';
import { effectsOf, type PlannedState } from '../changesets/plan.operations.js';
import { toPlannedEvent, withSegmentUses } from '../changesets/planned.js';
import { ChangesHash, deriveId } from '../changesets/repetition.js';
import { type Restoration, restoreDocuments } from '../changesets/restore.operations.js';
import { toContext } from '../changesets/run-operation.js';
import type { PreparedChange, UnitOfWork } from '../engine.js';
import { locateRefusals } from '../errors.js';
import { assertSegmentsUsable } from '../flags/change-flag.js';
import type { FlagState } from '../flags/flag.js';
import { flagDocuments, type StoredFlagSummary } from '../flags/flag.kind.js';
import { assertSegmentWeight, createFlagWeightCheck } from '../flags/flag-weight.js';
import { assertOwnerStays } from '../projects/members.decide.js';
import { ownerOf } from '../projects/members.operations.js';
import { DEFAULT_PROJECT } from '../projects/project.js';
import { projectDocuments } from '../projects/project.kind.js';
import type { SegmentState } from '../segments/segment.js';
import { segmentDocuments } from '../segments/segment.kind.js';
import { readDefinitions } from './check-definitions.js';
import type {
  Definitions,
  ImportedChangeSet,
  ImportedDifference,
  ImportOptions,
  ImportResult,
} from './definition.types.js';
import { readAll } from './export.operations.js';
import { type Planned, toSets } from './order.decide.js';
import {
  contentsOf,
  differencesOf,
  eventsOf,
  type ImportPlan,
  type Item,
  type KnownSegment,
  planImport,
  readTarget,
  segmentsFor,
} from './plan-import.js';

/** Leaves room for the index documents of a set. */
const SET_LIMITS = { documents: LIMITS.changesPerSet, bytes: 6_291_456 };

export async function importDefinitions(
  engine: ChangeEngine,
  document: Definitions,
  options: ImportOptions = {},
): Promise<ImportResult> {
  const given = readOptions(options);
  const { dryRun } = given;
  const { authorize, recordCommit } = createAuthorization(engine);
  const { context, planned } = await planSets(engine, document, { ...given, authorize });
  if (!planned) return readImport(engine, context);
  const { plan, states, sets, differences } = planned;
  if (dryRun) {
    // Later sets would need the documents of earlier ones.
    const [only] = sets;
    if (only && sets.length === 1) await engine.plan([toChange(engine, plan, only)], context);
    return { dryRun, changeSets: [], differences, effects: await effectsOf(engine, states) };
  }
  const changeSets: ImportedChangeSet[] = [];
  let parts = (await listParts(engine, context)).length;
  // Removes each set from the list, so that its memory is free after its commit.
  for (let items = sets.shift(); items; items = sets.shift()) {
    const own = sets.length === 0 ? context : partOf(context, parts);
    const { id, at } = await engine.run([toChange(engine, plan, items)], own);
    if (id === null) continue;
    recordCommit();
    parts += 1;
    changeSets.push({ id, at, documents: items.map(({ planned }) => `${planned.kind}/${idOf(planned)}`) });
  }
  return context.repetition ? readImport(engine, context) : { dryRun, changeSets, differences };
}

/**
 * Returns the context of a set of an import before its last one, which has the id of the caller. An import that failed
 * in between continues after the sets that have these ids.
 */
function partOf(context: UnattributedContext, index: number): UnattributedContext {
  const { repetition } = context;
  return repetition
    ? { ...context, repetition: { ...repetition, id: deriveId(repetition.id, `part ${index}`) } }
    : context;
}

/** Lists the committed sets of an import before its last one. */
async function listParts(engine: ChangeEngine, context: UnattributedContext): Promise<UnattributedContext[]> {
  const parts: UnattributedContext[] = [];
  if (!context.repetition) return parts;
  for (let part = partOf(context, 0); await engine.isCommitted(part); part = partOf(context, parts.length)) {
    parts.push(part);
  }
  return parts;
}

/** Reads the result of an import with an id from the events of its sets. */
async function readImport(engine: ChangeEngine, context: UnattributedContext): Promise<ImportResult> {
  const { storage } = engine;
  const sets = await listParts(engine, context);
  if (await engine.isCommitted(context)) sets.push(context);
  const changeSets: ImportedChangeSet[] = [];
  const differences: ImportedDifference[] = [];
  for (const { repetition } of sets) {
    const id = repetition?.id ?? '';
    await readCommittedSet(id, async () => {
      const set = await readSet(storage, id);
      const documents = await readLoggedDocuments(storage, set);
      const names = documents.map(({ key }) => `${key.kind}/${key.id}`);
      changeSets.push({ id, at: set.events[0].at, documents: names });
      for await (const { key, before: current, after: target } of paced(documents)) {
        differences.push(differencesOf({ kind: key.kind, current, target } as Planned));
      }
    });
  }
  return { dryRun: false, changeSets, differences };
}

/** An import whose sets are not planned is committed already. */
interface PlannedImport {
  readonly context: UnattributedContext;
  readonly planned: PlannedSets | undefined;
}

interface PlannedSets {
  readonly plan: ImportPlan;
  readonly sets: Item[][];
  readonly differences: readonly ImportedDifference[];
  /** The documents of a dry run before and after. */
  readonly states: readonly PlannedState[];
}

/** A separate function, so that only the sets hold the definitions while the commits run. */
async function planSets(
  engine: ChangeEngine,
  document: Definitions,
  { prune, dryRun, authorize, ...options }: ReturnType<typeof readOptions> & Pick<SetContext, 'authorize'>,
): Promise<PlannedImport> {
  const definitions = await readDefinitions(engine, document);
  const hash = options.id === undefined ? undefined : await hashOf(definitions, prune);
  const context = { ...toContext(options, hash), authorize };
  if (!dryRun && (await engine.isCommitted(context))) return { context, planned: undefined };
  const flags = prune ? await prunedFlags(engine, definitions) : definitions.flags;
  const { items, ...plan } = await planImport(engine, {
    definitions: { ...definitions, flags },
    given: definitions.flags.length,
    known: await readKnownSegments(engine),
    actor: options.actor ?? '',
  });
  if (authorize && items.length > 0) await authorize(await toPlannedSet(engine, items));
  const differences: ImportedDifference[] = [];
  for await (const { planned } of paced(items)) {
    differences.push(differencesOf(planned));
  }
  const states = (dryRun ? items : []).map(({ planned }) => {
    return { kind: planned.kind, id: idOf(planned), before: planned.current ?? null, after: planned.target };
  });
  return { context, planned: { plan, states, sets: toSets(items, SET_LIMITS), differences } };
}

async function hashOf({ projects, segments, flags }: Required<Definitions>, prune: boolean): Promise<ChangesHash> {
  const hash = new ChangesHash();
  hash.add({ op: 'importDefinitions', input: { prune, projects: projects.length, segments: segments.length } });
  for await (const item of paced([...projects, ...segments, ...flags])) hash.addValue(item);
  return hash;
}

function readOptions({ prune = false, dryRun = false, ...rest }: ImportOptions) {
  for (const [name, value] of Object.entries({ prune, dryRun })) {
    if (typeof value !== 'boolean') throw invalidInput([{ message: 'must be boolean', path: `/${name}` }]);
  }
  // Before the document is read, which may take long.
  toContext(rest, new ChangesHash());
  return { ...rest, prune, dryRun };
}

/**
 * Returns the flags of an import with `prune`: the document's flags, live by default, and, archived, the other flags of
 * its projects.
 */
async function prunedFlags(
  { storage, read }: ChangeEngine,
  { projects, flags }: Required<Definitions>,
): Promise<Required<Definitions>['flags']> {
  const present = new Set(flags.map(({ name }) => name));
  const named = new Set(projects.map(({ id }) => id));
  for (const { name, project } of flags) {
    named.add(project ?? (await read(flagDocuments, name))?.state.project ?? DEFAULT_PROJECT);
  }
  const absent: { readonly name: string; readonly archived: true }[] = [];
  for await (const project of paced(named)) {
    const listed = await storage.list({ kind: flagDocuments.kind, parent: project, part: 'summary' });
    for (const { key, content } of listed) {
      if (!(content as StoredFlagSummary).archived && !present.has(key.id))
        absent.push({ name: key.id, archived: true });
    }
  }
  return [...flags.map((flag) => ({ archived: false, ...flag })), ...absent];
}

async function readKnownSegments(engine: ChangeEngine): Promise<readonly KnownSegment[]> {
  const known: KnownSegment[] = [];
  for await (const { id, name, createdAt } of readAll<SegmentState>(engine, segmentDocuments.kind)) {
    known.push({ id, name, createdAt });
  }
  return known;
}

/** Prepares one change set. It decides on the states at the time of the commit. */
function toChange(engine: ChangeEngine, plan: ImportPlan, items: readonly Item[]): PreparedChange {
  return {
    subject: { kind: projectDocuments.kind, id: '' },
    async decide(unit, context) {
      const segments = await segmentsFor(unit, plan, await readKnownSegments(engine));
      const planned: PlacedDocument[] = [];
      for await (const item of paced(items)) {
        const found = await readTarget(engine, unit.read, { item, plan, segments, actor: context.actor });
        if (found) planned.push({ ...item, planned: found });
      }
      await restoreAll(engine, unit, planned);
    },
    result: () => undefined,
  };
}

/** A planned document and its place. */
type PlacedDocument = Pick<Item, 'planned' | 'path'>;

async function restoreAll(engine: ChangeEngine, unit: UnitOfWork, documents: readonly PlacedDocument[]): Promise<void> {
  const restorations: Restoration[] = [];
  for await (const { planned, path: place } of paced(documents)) {
    // Pruned flags have no place in the document.
    const path = place || undefined;
    const { kind, current, target } = planned;
    if (kind === 'project') await locateRefusals(path, () => assertOwnerStays(current, target, ownerOf(engine)));
    if (kind === 'segment' && current && !isSameJson(current.constraints, target.constraints)) {
      const { id, constraints } = target;
      await locateRefusals(path, () => assertSegmentWeight(engine, unit, { id, constraints }));
    }
    restorations.push({ kind, id: idOf(planned), target, path });
  }
  await restoreDocuments(unit, restorations);
  const assertWeight = createFlagWeightCheck(engine, unit);
  for await (const { planned, path } of paced(documents)) {
    if (planned.kind !== 'flag') continue;
    const { current: before, target: after } = planned;
    await locateRefusals(path || undefined, async () => {
      if (!before) await assertNewSegmentsUsable(unit, after);
      assertWeight({ before, after });
    });
  }
}

/** Checks the segments of a new flag here: its strategies have no events of their own. */
async function assertNewSegmentsUsable(unit: UnitOfWork, flag: FlagState): Promise<void> {
  const events = flag.environments.flatMap(({ name, strategies }) =>
    strategies.map((data) => ({ type: 'strategy-added' as const, environment: name, data, before: null })),
  );
  await assertSegmentsUsable(unit.read, { project: flag.project, events });
}

function idOf({ kind, target }: Planned): string {
  if (kind === 'flag') return target.name;
  return `${target.id}`;
}

/**
 * Returns the actor's check of a set of the import. The check also gets the projects that earlier sets have created,
 * and the events that would bring a new document from nothing to its state. `recordCommit` is called after each commit.
 */
function createAuthorization({ authorize }: ChangeEngine) {
  const created: PlannedDocument[] = [];
  let latest: readonly PlannedDocument[] = [];
  return {
    authorize:
      authorize &&
      (async ({ documents, segmentUses }: PlannedSet) => {
        latest = documents.filter(({ kind, before }) => kind === projectDocuments.kind && before === null);
        const whole = [...created];
        for await (const document of paced(documents)) whole.push(withContents(document));
        return authorize({ documents: whole, segmentUses });
      }),
    recordCommit() {
      created.push(...latest);
      latest = [];
    },
  };
}

function withContents({ events, ...document }: PlannedDocument): PlannedDocument {
  const { kind, before, after } = document;
  const contents = before === null ? contentsOf({ kind, current: undefined, target: after } as Planned) : [];
  return { ...document, events: [...events, ...contents.map((event) => toEvent(document, event))] };
}

/** Plans all sets at once, without their intermediate steps. */
async function toPlannedSet(engine: ChangeEngine, items: readonly Item[]): Promise<PlannedSet> {
  const documents: PlannedDocument[] = [];
  for await (const { planned } of paced(items)) {
    const { kind, current: before = null, target: after } = planned;
    const document = { kind, id: idOf(planned), before, after };
    documents.push({ ...document, events: eventsOf(planned).map((event) => toEvent(document, event)) });
  }
  return withSegmentUses(documents, (segment) => engine.replica.documents.segments.get(`${segment}`));
}

function toEvent({ kind, id, before, after }: Omit<PlannedDocument, 'events'>, event: DomainEvent): PlannedEvent {
  const { project = null } = (before ?? after) as { readonly project?: string };
  return toPlannedEvent({ subject: { kind, id }, project: kind === projectDocuments.kind ? id : project, event });
}
