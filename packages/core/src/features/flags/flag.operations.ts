import type { AnyFlagRef, FlagRef, ProjectRef } from '../../base/common.types.js';
import { cloneJson } from '../../base/json.js';
import type { FlagsSettings } from '../../base/settings.types.js';
import { pickMembers } from '../../base/validator.js';
import type { Engine, PreparedChange } from '../../kernel/engine.js';
import {
  ANY_FLAG,
  type Call,
  call,
  defineOperations,
  FLAG,
  operation,
  PROJECT,
  singleOperation,
} from '../../kernel/operation.js';
import type { Versioned } from '../../storage/documents.js';
import type { DocumentKey } from '../../storage/port.js';
import type { UsageStorage } from '../../storage/usage/port.js';
import { applyToFlag, assertSegmentsMovable, changeFlag, editFlag, type FlagEngine } from './change-flag.js';
import { listChildren, listLiveChildren, possibleDependencies } from './dependencies.operations.js';
import { assertNoFaults, newFaults } from './faults.js';
import * as rules from './flag.decide.js';
import { FLAG_MEMBER_NAMES, FLAG_MEMBERS, type FlagState, shownEnvironmentOf } from './flag.js';
import { findFlag, findProject, flagDocuments, throwFlagNotFound } from './flag.kind.js';
import type { Flag, FlagChanges, FlagDetail, LabelChanges, NewFlag } from './flag.types.js';
import type { Variant, VariantInput } from './variant.types.js';
import * as variantRules from './variants.decide.js';

/*
 * The operations of whole flags, and of their variants.
 */

const INPUT_MEMBERS = ['name', ...FLAG_MEMBER_NAMES];

/** Copies an input, which the caller may change while the operation runs. */
function copyInput<Input extends NewFlag | FlagChanges>(input: Input): Input {
  return cloneJson(pickMembers(input, INPUT_MEMBERS));
}

function createFlag(engine: Engine, ref: ProjectRef, input: NewFlag): PreparedChange<Flag> {
  const { type = defaultType(engine), ...rest } = copyInput(input);
  const createdAt = engine.now().toISOString();
  return {
    subject: keyOf(rest.name),
    async decide(unit) {
      const existing = await unit.read(flagDocuments, rest.name);
      const { state } = await findProject(unit.read, ref);
      const origin = { project: state.id, createdAt };
      const events = rules.createFlag(existing?.state, { ...rest, type }, origin);
      assertNoFaults(newFaults(undefined, rest));
      await unit.apply(flagDocuments, rest.name, events);
    },
    result: async ({ read }) => toFlag((await read(flagDocuments, rest.name)) ?? throwFlagNotFound(rest.name)),
  };
}

async function getFlag(engine: FlagEngine, ref: FlagRef): Promise<FlagDetail> {
  const { memory, settings } = engine;
  const found = await findFlag(engine.read, ref);
  // After the read of the document, so that memory has the children of this revision. If the storage serves documents but not
  // events, memory has the last known children.
  await memory.refresh();
  return toDetail(found, { settings, ...(await readBeside(engine, ref.flag)) });
}

/** Reads what a flag shows beside its document: its children in memory, and one look-up of usage. */
export async function readBeside(
  { children, usage }: Pick<FlagEngine, 'children' | 'usage'>,
  flag: string,
): Promise<Pick<FlagDetail, 'lastSeenAt' | 'children'>> {
  const lastSeenAt = await readLastSeenAt(usage, flag);
  return { children: children.of(flag), lastSeenAt };
}

/** Reads the last-seen time of one flag. Ignores a name that is not a string; reading the flag refuses such a name. */
async function readLastSeenAt(usage: UsageStorage, flag: string): Promise<string | null> {
  if (typeof flag !== 'string') return null;
  const time = (await usage.lastSeen([flag])).get(flag);
  return time === undefined ? null : new Date(time).toISOString();
}

/** Converts a stored flag to the public type. */
function toFlag({ state, revision }: Versioned<FlagState>): Flag {
  return { ...rules.toUpdate(state), revision };
}

/** The inputs of a flag's details besides the flag. */
interface FlagDetailContext {
  readonly settings: FlagsSettings;
  readonly lastSeenAt: string | null;
  readonly children: readonly string[];
}

export function toDetail(found: Versioned<FlagState>, context: FlagDetailContext): FlagDetail {
  const { settings, lastSeenAt, children } = context;
  const environments = settings.environments.map(({ name }) => shownEnvironmentOf(found.state, name));
  const dependencies = found.state.dependencies;
  return Object.assign(toFlag(found), { lastSeenAt, environments, dependencies, children });
}

function updateFlag(_: Engine, ref: FlagRef, input: FlagChanges): PreparedChange<Flag> {
  const changes = copyInput(input);
  return editFlag(ref, {
    decide: (flag) => rules.changeMetadata(flag, changes),
    result: toFlag,
  });
}

function changeLabels(engine: FlagEngine, ref: FlagRef, input: LabelChanges): PreparedChange<Flag> {
  const { validate } = engine;
  const { add = [], remove = [] } = input;
  const changes = { add: [...add], remove: [...remove] };
  return editFlag(ref, {
    decide: (flag) => rules.changeLabels(flag, changes, validate.flagChanges),
    result: toFlag,
  });
}

/** Returns `release`, or the first configured type if `release` is not configured. */
export function defaultType({ settings }: Engine): string {
  const preferred = FLAG_MEMBERS.type.initial;
  const names = settings.flagTypes.map(({ name }) => name);
  return names.includes(preferred) ? preferred : (names[0] ?? preferred);
}

function cloneFlag(engine: Engine, ref: FlagRef, input: { readonly name: string }): PreparedChange<Flag> {
  const { name } = input;
  const origin = { name, createdAt: engine.now().toISOString(), idFor: rememberIds(engine.newId) };
  return {
    subject: keyOf(name),
    revisionOf: keyOf(ref.flag),
    async decide(unit) {
      const existing = await unit.read(flagDocuments, name);
      const source = await findFlag(unit.read, ref);
      await findProject(unit.read, ref);
      const dependencies = await possibleDependencies(unit, { source: source.state, name });
      const events = rules.cloneFlag(existing?.state, source.state, { ...origin, dependencies });
      await applyToFlag(unit, { name, before: undefined }, events);
    },
    result: async ({ read }) => toFlag((await read(flagDocuments, name)) ?? throwFlagNotFound(name)),
  };
}

/** Returns a function that makes one id for each name. Repeated decisions get the same ids. */
export function rememberIds(newId: () => string): (name: string) => string {
  const ids = new Map<string, string>();
  return (name) => {
    const id = ids.get(name) ?? newId();
    ids.set(name, id);
    return id;
  };
}

function archiveFlag({ now }: Engine, ref: FlagRef): PreparedChange<void> {
  const archivedAt = now().toISOString();
  return changeFlag(ref, {
    // Reads children with a check in the commit: one that is revived meanwhile needs its parent.
    decide: async (flag, unit) => rules.archiveFlag(flag, await listLiveChildren(unit, flag.name), archivedAt),
    result: () => undefined,
  });
}

async function locateFlag({ read }: Engine, { flag }: { readonly flag: string }): Promise<FlagRef> {
  const { project } = assertFound(await read(flagDocuments, flag), { flag });
  return { project, flag };
}

function reviveFlag(_: Engine, ref: AnyFlagRef): PreparedChange<Flag> {
  const { flag } = ref;
  return {
    subject: keyOf(flag),
    async decide(unit) {
      const state = assertFound(await unit.read(flagDocuments, flag), ref);
      const kept = await possibleDependencies(unit, { source: state, name: flag });
      await applyToFlag(unit, { name: flag, before: state }, rules.reviveFlag(state, kept));
    },
    result: async ({ read }) => toFlag((await read(flagDocuments, flag)) ?? throwFlagNotFound(flag)),
  };
}

function deleteFlag(_: Engine, ref: AnyFlagRef): PreparedChange<void> {
  const { flag } = ref;
  return {
    subject: keyOf(flag),
    async decide(unit) {
      const state = assertFound(await unit.read(flagDocuments, flag), ref);
      await applyToFlag(unit, { name: flag, before: state }, rules.deleteFlag(state));
    },
    result: () => undefined,
  };
}

function moveFlag(_: Engine, ref: FlagRef, input: ProjectRef): PreparedChange<Flag> {
  const target = { project: input.project };
  return changeFlag(ref, {
    async decide(flag, unit) {
      const { state: project } = await findProject(unit.read, target);
      const children = await listChildren(unit, flag.name);
      const events = rules.moveFlag(flag, project.id, children);
      if (events.length > 0) await assertSegmentsMovable(unit.read, flag, project.id);
      return events;
    },
    result: toFlag,
  });
}

function keyOf(flag: string): DocumentKey {
  return { kind: flagDocuments.kind, id: flag };
}

/** Returns the flag if it exists and belongs to the project, if one is named. Throws `flag_not_found` otherwise. */
function assertFound(
  found: Versioned<FlagState> | undefined,
  { flag, project }: { readonly flag: string; readonly project?: string | undefined },
): FlagState {
  if (!found || (project !== undefined && found.state.project !== project)) return throwFlagNotFound(flag);
  return found.state;
}

function setVariants(_: Engine, ref: FlagRef, input: readonly VariantInput[]): PreparedChange<readonly Variant[]> {
  const variants = cloneJson(input);
  return editFlag(ref, {
    decide: (flag) => variantRules.setVariants(flag, variants),
    result: ({ state }) => state.variants,
  });
}

export const flagOperations = defineOperations({
  createFlag: operation({ ref: PROJECT, input: 'newFlag', prepare: createFlag }),
  updateFlag: operation({ ref: FLAG, input: 'flagChanges', prepare: updateFlag }),
  changeLabels: singleOperation({ ref: FLAG, input: 'labelChanges', prepare: changeLabels }),
  cloneFlag: operation({ ref: FLAG, input: 'clone', prepare: cloneFlag }),
  archiveFlag: operation({ ref: FLAG, prepare: archiveFlag }),
  reviveFlag: operation({ ref: ANY_FLAG, prepare: reviveFlag }),
  deleteFlag: operation({ ref: ANY_FLAG, prepare: deleteFlag }),
  moveFlag: operation({ ref: FLAG, input: 'move', prepare: moveFlag }),
  setVariants: operation({ ref: FLAG, input: 'variants', prepare: setVariants }),
  getFlag: call({ ref: FLAG, run: (engine: FlagEngine, { ref }: Call<FlagRef>) => getFlag(engine, ref) }),
  locateFlag: call({
    ref: ['flag'],
    run: (engine: Engine, { ref }: Call<Pick<FlagRef, 'flag'>>) => locateFlag(engine, ref),
  }),
});
