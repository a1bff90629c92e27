import { isSameJson } from '../../base/json.js';
import { paced } from '../../base/paced.js';
import { compareStates } from '../../base/parts.js';
import { invalidInput, locateRefusals } from '../../base/validator.js';
import type { AuthorizeChanges, PlannedDocument } from '../../kernel/changes/change-set.types.js';
import { toPlannedEvent } from '../../kernel/changes/planned.js';
import { ChangesHash } from '../../kernel/changes/repetition.js';
import { toContext } from '../../kernel/changes/run-operation.js';
import type { PreparedChange, UnitOfWork } from '../../kernel/engine.js';
import { readCommittedSet, readLoggedDocuments, readSet } from '../../kernel/log/change-set-log.js';
import type { Registry } from '../../kernel/registry.js';
import type { PlannedState } from '../environments/effects.js';
import { type EnvironmentEngine, planOf } from '../environments/plan.operations.js';
import { assertSegmentsUsable } from '../flags/change-flag.js';
import { type Fault, newFaults, newPatterns } from '../flags/faults.js';
import type { FlagState } from '../flags/flag.js';
import { flagDocuments, type StoredFlagSummary } from '../flags/flag.kind.js';
import { assertSegmentCost, constraintsIn, findInvalidPatterns, segmentsWith } from '../flags/patterns.js';
import { type Restoration, restoreDocuments } from '../history/restore.js';
import { assertOwnerStays } from '../projects/members.decide.js';
import { ownerOf } from '../projects/members.operations.js';
import { DEFAULT_PROJECT } from '../projects/project.js';
import { projectDocuments } from '../projects/project.kind.js';
import type { SegmentState } from '../segments/segment.js';
import { segmentDocuments } from '../segments/segment.kind.js';
import { Issues, readDefinitions } from './check-definitions.js';
import type { Definitions, ImportedDifference, ImportOptions, ImportResult } from './definition.types.js';
import { readDocumentsOfKind } from './export-definitions.js';
import {
  contentEvents,
  type ImportedDocument,
  type ImportPlan,
  type KnownSegment,
  planImport,
  readTarget,
  segmentsFor,
} from './plan-import.js';
import { rolloutsLeftAlone } from './targets.decide.js';

/**
 * Imports definitions.
 *
 * @param rules whether to refuse new faults. Without them, the definitions are loaded as they are.
 */
export async function importDefinitions(
  engine: EnvironmentEngine,
  document: Definitions,
  options: ImportOptions = {},
  rules = true,
): Promise<ImportResult> {
  const { prune, dryRun, ...rest } = readOptions(engine, options);
  const definitions = await readDefinitions(engine, document);
  const hash = rest.id === undefined ? undefined : await hashOf(engine, definitions, prune);
  const context = { ...toContext(rest, hash), authorize: createAuthorization(engine) };
  const { repetition } = context;
  if (!dryRun && repetition && (await engine.isCommitted(context))) {
    return readImport(engine, repetition.id, rolloutsNow(engine, definitions));
  }
  const flags = prune ? await prunedFlags(engine, definitions) : definitions.flags;
  const plan = await planImport(engine, {
    definitions: { ...definitions, flags },
    given: definitions.flags.length,
    known: await readKnownSegments(engine),
    actor: rest.actor ?? '',
  });
  const { rollouts } = plan;
  const change = toChange(engine, plan, rules);
  if (dryRun) {
    const decided = await engine.plan([change], context);
    const { documents, effects, approval } = await planOf(engine, decided);
    return { dryRun, changeSet: null, differences: await differencesOf(documents), rollouts, effects, approval };
  }
  const { id } = await engine.run([change], context);
  return id === null ? { dryRun, changeSet: null, differences: [], rollouts } : readImport(engine, id, rollouts);
}

/** The log does not tell which strategies a committed import has left alone: returns those that roll out now. */
function rolloutsNow({ memory }: EnvironmentEngine, { flags }: Required<Definitions>): ImportResult['rollouts'] {
  const known = memory.statesOf(flagDocuments);
  return flags.flatMap((definition) => {
    const flag = known.get(definition.name);
    return flag ? rolloutsLeftAlone(definition, flag, flag) : [];
  });
}

/** Reads the result of a committed import from its events. */
function readImport(engine: EnvironmentEngine, id: string, rollouts: ImportResult['rollouts']): Promise<ImportResult> {
  return readCommittedSet(id, async () => {
    const set = await readSet(engine.storage, id);
    const changed = await readLoggedDocuments(engine, set);
    const differences = await differencesOf(changed.map(({ key, before, after }) => ({ ...key, before, after })));
    return { dryRun: false, changeSet: { id, at: set.events[0].at }, differences, rollouts };
  });
}

async function differencesOf(documents: readonly PlannedState[]): Promise<readonly ImportedDifference[]> {
  const differences: ImportedDifference[] = [];
  for await (const { kind, id, before, after } of paced(documents)) {
    const parts = compareStates(before ?? undefined, after ?? undefined);
    differences.push({ kind: kind as ImportedDifference['kind'], id, parts });
  }
  return differences;
}

async function hashOf(
  engine: EnvironmentEngine,
  { projects, segments, flags }: Required<Definitions>,
  prune: boolean,
): Promise<ChangesHash> {
  const hash = new ChangesHash(engine);
  hash.add({ op: 'importDefinitions', input: { prune, projects: projects.length, segments: segments.length } });
  for await (const item of paced([...projects, ...segments, ...flags])) hash.addValue(item);
  return hash;
}

function readOptions(engine: EnvironmentEngine, { prune = false, dryRun = false, ...rest }: ImportOptions) {
  for (const [name, value] of Object.entries({ prune, dryRun })) {
    if (typeof value !== 'boolean') throw invalidInput([{ message: 'must be boolean', path: `/${name}` }]);
  }
  // Before the document is read, which may take long.
  toContext(rest, new ChangesHash(engine));
  return { ...rest, prune, dryRun };
}

/**
 * Returns the flags of an import with `prune`: the document's flags, live by default, and, archived, the other flags of
 * its projects.
 */
async function prunedFlags(
  { storage, read }: EnvironmentEngine,
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

async function readKnownSegments(engine: EnvironmentEngine): Promise<readonly KnownSegment[]> {
  const known: KnownSegment[] = [];
  for await (const { id, name, createdAt } of readDocumentsOfKind<SegmentState>(engine, segmentDocuments.kind)) {
    known.push({ id, name, createdAt });
  }
  return known;
}

/** Prepares the change set. It decides on the states at the time of the commit. */
function toChange(engine: EnvironmentEngine, plan: ImportPlan, rules: boolean): PreparedChange {
  return {
    subject: { kind: projectDocuments.kind, id: '' },
    async decide(unit, context) {
      const { storage } = engine;
      const segments = await segmentsFor({ read: unit.read, storage }, plan, await readKnownSegments(engine));
      const planned: PlacedDocument[] = [];
      for await (const item of paced(plan.items)) {
        const found = await readTarget(engine, unit.read, { item, plan, segments, actor: context.actor });
        if (found) planned.push({ path: item.path, planned: found });
      }
      if (rules) await assertNoNewFaults(engine, unit, planned);
      await restoreAll(engine, unit, planned);
    },
    result: () => undefined,
  };
}

/** A planned document and its place in the definitions. */
interface PlacedDocument {
  readonly planned: ImportedDocument;
  readonly path: string;
}

async function restoreAll(
  engine: EnvironmentEngine,
  unit: UnitOfWork,
  documents: readonly PlacedDocument[],
): Promise<void> {
  const restorations: Restoration[] = [];
  for await (const { planned, path: place } of paced(documents)) {
    // Pruned flags have no place in the document.
    const path = place || undefined;
    const { kind, current, target } = planned;
    if (kind === 'project') await locateRefusals(path, () => assertOwnerStays(current, target, ownerOf(engine)));
    restorations.push({ kind, id: idOf(planned), target, path });
  }
  await restoreDocuments(engine.registry, unit, restorations);
  for await (const { planned, path } of paced(documents)) {
    if (planned.kind !== 'flag' || planned.current) continue;
    await locateRefusals(path || undefined, () => assertNewSegmentsUsable(unit, planned.target));
  }
}

/**
 * Refuses documents with faults that the stored ones do not have, before any is written. Patterns are compiled last,
 * because that takes long.
 */
async function assertNoNewFaults(
  engine: EnvironmentEngine,
  unit: UnitOfWork,
  documents: readonly PlacedDocument[],
): Promise<void> {
  const issues = new Issues();
  const addAll = (path: string, faults: readonly Fault[]) => {
    for (const fault of faults) issues.add(`${path}${fault.place}${fault.path}`, fault.message);
  };
  const segments = new Map(segmentsWith(engine, unit));
  for (const { planned } of documents) {
    if (planned.kind === 'segment') segments.set(`${planned.target.id}`, planned.target);
  }
  const constraintsOf = constraintsIn(segments);
  for await (const { planned, path } of paced(documents)) {
    addAll(path, newFaults(planned.current, planned.target, constraintsOf));
  }
  issues.assertNone();
  for await (const { planned, path } of paced(documents)) {
    const { kind, current, target } = planned;
    if (kind === 'segment' && !isSameJson(current?.constraints, target.constraints)) {
      await locateRefusals(path, () => assertSegmentCost(engine, unit, target));
    }
  }
  issues.assertNone();
  for await (const { planned, path } of paced(documents)) {
    addAll(path, await findInvalidPatterns(newPatterns(planned.current, planned.target)));
  }
  issues.assertNone();
}

/** Checks the segments of a new flag here: its strategies have no events of their own. */
async function assertNewSegmentsUsable(unit: UnitOfWork, flag: FlagState): Promise<void> {
  const events = flag.environments.flatMap(({ name, strategies }) =>
    strategies.map((data) => ({ type: 'strategy-added' as const, environment: name, data, before: null })),
  );
  await assertSegmentsUsable(unit.read, { project: flag.project, events });
}

function idOf({ kind, target }: ImportedDocument): string {
  if (kind === 'flag') return target.name;
  return `${target.id}`;
}

/**
 * Returns the actor's check of the import. For a new document, it also gets the events that would bring an empty
 * document to its state: each needs a permission of its own.
 */
function createAuthorization({ authorize, registry }: EnvironmentEngine): AuthorizeChanges | undefined {
  if (!authorize) return undefined;
  return async ({ documents, segmentUses }) => {
    const whole: PlannedDocument[] = [];
    for await (const document of paced(documents)) whole.push(withContents(registry, document));
    return authorize({ documents: whole, segmentUses });
  };
}

function withContents(registry: Registry, document: PlannedDocument): PlannedDocument {
  const { kind, id, before, after, events } = document;
  if (before !== null) return document;
  const { project = null } = after as { readonly project?: string };
  const contents = contentEvents({ kind, target: after } as ImportedDocument).map((event) =>
    toPlannedEvent(registry, {
      subject: { kind, id },
      project: kind === projectDocuments.kind ? id : project,
      event,
    }),
  );
  return { ...document, events: [...events, ...contents] };
}
