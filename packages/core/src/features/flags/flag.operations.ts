import type { AnyFlagRef, ChangeContext, FlagRef, PageQuery, ProjectRef } from '../../base/common.types.js';
import { cloneJson } from '../../base/json.js';
import type { FlagsSettings } from '../../base/settings.types.js';
import { pickMembers } from '../../base/validator.js';
import { ENGINE, type Namespace, run } from '../../kernel/changes/run-operation.js';
import type { Engine, PreparedChange } from '../../kernel/engine.js';
import {
  ANY_FLAG,
  type Call,
  call,
  defineOperations,
  FLAG,
  NO_REFERENCE,
  operation,
  type Page,
  PROJECT,
  singleOperation,
} from '../../kernel/operation.js';
import type { Versioned } from '../../storage/document-reader.js';
import type { DocumentKey } from '../../storage/port.js';
import type { UsageStorage } from '../../storage/usage/port.js';
import { applyToFlag, assertSegmentsMovable, changeFlag, editFlag, type FlagEngine } from './change-flag.js';
import {
  DependencyAdministration,
  listChildren,
  listLiveChildren,
  possibleDependencies,
} from './dependencies.operations.js';
import { assertNoFaults, newFaults } from './faults.js';
import * as rules from './flag.decide.js';
import { FLAG_MEMBER_NAMES, FLAG_MEMBERS, type FlagState, shownEnvironmentOf } from './flag.js';
import { findFlag, findProject, flagDocuments, throwFlagNotFound } from './flag.kind.js';
import type { Flag, FlagChanges, FlagDetail, LabelChanges, NewFlag } from './flag.types.js';
import { listFlags } from './flag-lists.js';
import type { FlagPage, FlagQuery } from './flag-search.types.js';
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
  // After the document: memory then has the children of this revision. A storage that serves reads without its events has
  // those that were known last.
  await memory.refresh();
  return toDetail(found, { settings, ...(await readBeside(engine, ref.flag)) });
}

/** What a flag shows beside its document. */
export type BesideFlag = Pick<FlagDetail, 'lastSeenAt' | 'children'>;

/** Reads what a flag shows beside its document: its children in memory, and one look-up of usage. */
async function readBeside(
  { children, usage }: Pick<FlagEngine, 'children' | 'usage'>,
  flag: string,
): Promise<BesideFlag> {
  const lastSeenAt = await readLastSeenAt(usage, flag);
  return { children: children.of(flag), lastSeenAt };
}

/**
 * Reads what a flag shows beside its document, for the reply to a change that is in memory. Part of that change: it is not an
 * operation, and reads no document.
 */
export function readBesideFlag(flags: Namespace, flag: string): Promise<BesideFlag> {
  return readBeside(flags[ENGINE] as Engine as FlagEngine, flag);
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
  listFlags: call({
    ref: NO_REFERENCE,
    run: (engine: FlagEngine, { input, context }: Call<undefined, FlagQuery | undefined, Page>) =>
      listFlags(engine, input, context),
  }),
});

/** The methods of `Flags` for flags and their variants. */
export abstract class FlagAdministration extends DependencyAdministration {
  /**
   * Creates a flag, off in every environment.
   *
   * If several callers create the same name concurrently, exactly one succeeds.
   *
   * @throws FlagsError `invalid_input`, `project_not_found`, `flag_exists` (also when the name is taken in another
   * project or by an archived flag), `revision_mismatch` (with any `ifRevision`)
   * @example
   * await flags.createFlag({ project: 'default' }, { name: 'checkout', description: 'The new checkout' });
   */
  createFlag(ref: ProjectRef, input: NewFlag, context?: ChangeContext): Promise<Flag> {
    return run(this, flagOperations.createFlag, { ref, input, context });
  }

  /**
   * Gets one flag, archived or not, with every environment of the instance.
   *
   * @throws FlagsError `project_not_found`, `flag_not_found`
   * @example
   * const { environments, revision } = await flags.getFlag({ project: 'default', flag: 'checkout' });
   */
  getFlag(ref: FlagRef): Promise<FlagDetail> {
    return run(this, flagOperations.getFlag, { ref });
  }

  /**
   * Finds the project of a flag, archived or not, by the flag's name.
   *
   * @throws FlagsError `flag_not_found`
   * @example
   * const { project } = await flags.locateFlag({ flag: 'checkout' });
   */
  locateFlag(ref: { readonly flag: string }): Promise<FlagRef> {
    return run(this, flagOperations.locateFlag, { ref });
  }

  /**
   * Lists flags: of one project, of several or of all; by text, label, owner, type, state and environment. By default all that
   * are not archived, in name order (code points). Answers from memory, after it has applied the changes of other processes.
   *
   * `after` is the `next` of a page with the same `sort`. Pages sorted by `lastSeenAt` may repeat or miss flags whose time
   * changes between two pages.
   *
   * @throws FlagsError `invalid_input`, `project_not_found`, `environment_not_found`
   * @example
   * const { items } = await flags.listFlags({ project: 'default' });
   * const fresh = items.filter((flag) => !flag.stale);
   * @example
   * const archived = await flags.listFlags({ archived: true });
   * const { items, total } = await flags.listFlags({ label: 'team-shop', sort: '-createdAt' }, { limit: 20 });
   */
  listFlags(query?: FlagQuery, page?: PageQuery): Promise<FlagPage> {
    return run(this, flagOperations.listFlags, { input: query, context: page });
  }

  /**
   * Changes a flag's description, type, staleness, impression data, labels or owner. Does not record an event if nothing
   * changes.
   *
   * @throws FlagsError `invalid_input`, `project_not_found`, `flag_not_found`, `flag_archived`, `revision_mismatch`
   * @example
   * await flags.updateFlag({ project: 'default', flag: 'checkout' }, { stale: true });
   */
  updateFlag(ref: FlagRef, changes: FlagChanges, context?: ChangeContext): Promise<Flag> {
    return run(this, flagOperations.updateFlag, { ref, input: changes, context });
  }

  /**
   * Adds labels to a flag and removes others, in one change. Added labels come last. Ignores labels to add that the
   * flag has, and labels to remove that it does not have. Does not record an event if nothing
   * changes.
   *
   * Concurrent calls all take effect: each starts from the current labels.
   *
   * @throws FlagsError as `updateFlag`; `invalid_input` also for too many labels
   * @example
   * const { labels } = await flags.changeLabels({ project: 'default', flag: 'checkout' }, { add: ['team-shop'] });
   */
  changeLabels(ref: FlagRef, changes: LabelChanges, context?: ChangeContext): Promise<Flag> {
    return run(this, flagOperations.changeLabels, { ref, input: changes, context });
  }

  /**
   * Copies a flag's description, type, labels, owner, strategies and variants to a new flag. The copy is off
   * everywhere, not stale, and has new strategy ids.
   *
   * A `groupId` parameter equal to the source's name becomes the new name. Dependencies on archived or deleted parents
   * are not copied. `ifRevision` is the source's revision.
   *
   * If the source is archived concurrently, the copy either completes before that, or fails.
   *
   * @throws FlagsError `invalid_input`, `project_not_found`, `flag_not_found`, `flag_archived`, `flag_exists`,
   * `revision_mismatch`
   * @example
   * await flags.cloneFlag({ project: 'default', flag: 'checkout' }, { name: 'checkout-2' });
   */
  cloneFlag(ref: FlagRef, input: { readonly name: string }, context?: ChangeContext): Promise<Flag> {
    return run(this, flagOperations.cloneFlag, { ref, input, context });
  }

  /**
   * Archives a flag: it leaves the lists and cannot be changed; its strategies stay. Does nothing if the flag is
   * archived already.
   *
   * @throws FlagsError `project_not_found`, `flag_not_found`, `flag_has_children` (flags that are not archived depend
   * on it), `revision_mismatch`
   * @example
   * await flags.archiveFlag({ project: 'default', flag: 'checkout' });
   */
  archiveFlag(ref: FlagRef, context?: ChangeContext): Promise<void> {
    return run(this, flagOperations.archiveFlag, { ref, context });
  }

  /**
   * Revives an archived flag, off in every environment. Does nothing if the flag is not archived. With `project`, a
   * flag of another project is not found. Removes dependencies on flags that are archived or deleted: the change set
   * then also has events of the type `dependency-removed`.
   *
   * @throws FlagsError `flag_not_found`, `revision_mismatch`
   * @example
   * await flags.reviveFlag({ flag: 'checkout' });
   */
  reviveFlag(ref: AnyFlagRef, context?: ChangeContext): Promise<Flag> {
    return run(this, flagOperations.reviveFlag, { ref, context });
  }

  /**
   * Deletes an archived flag and its metrics permanently. The name is free again. With `project`, a flag of another
   * project is not found.
   *
   * @throws FlagsError `flag_not_found`, `flag_not_archived`, `revision_mismatch`
   * @example
   * await flags.deleteFlag({ flag: 'checkout' });
   */
  deleteFlag(ref: AnyFlagRef, context?: ChangeContext): Promise<void> {
    return run(this, flagOperations.deleteFlag, { ref, context });
  }

  /**
   * Moves a flag to another project, with its strategies, states and variants. Does nothing if it is there already.
   *
   * A flag with dependencies or children cannot move, because dependencies stay within a project. Segments of the old
   * project cannot be used in another one.
   *
   * @throws FlagsError `invalid_input`, `project_not_found` (either project), `flag_not_found`, `flag_archived`,
   * `parent_not_found` (the flag depends on others), `flag_has_children`, `segment_in_use` (flags of the other project
   * cannot use a segment of the flag), `revision_mismatch`
   * @example
   * await flags.moveFlag({ project: 'default', flag: 'checkout' }, { project: 'shop' });
   */
  moveFlag(ref: FlagRef, input: ProjectRef, context?: ChangeContext): Promise<Flag> {
    return run(this, flagOperations.moveFlag, { ref, input, context });
  }

  /**
   * Replaces all variants of a flag, in all environments, in the given order. `[]` removes them.
   *
   * Weights without `weightType` are shares, and all weights add up to 1000: 900 and 100 stay so. The last share is
   * stored as `variable`, the others as `fix`.
   *
   * Fixed weights must add up to less than 1000, and at least one variant must be variable. Variable variants share the
   * remainder equally; the first ones get one more each if it does not divide evenly (three variable: 334, 333, 333).
   *
   * If several callers set variants concurrently, the last one wins. Pass `ifRevision` to reject it instead.
   *
   * @throws FlagsError `invalid_input` (naming the rule), `project_not_found`, `flag_not_found`, `flag_archived`,
   * `revision_mismatch`
   * @example
   * await flags.setVariants({ project: 'default', flag: 'checkout' }, [
   *   { name: 'blue', weightType: 'fix', weight: 100 },
   *   { name: 'green' },
   * ]); // blue 100, green 900
   */
  setVariants(ref: FlagRef, variants: readonly VariantInput[], context?: ChangeContext): Promise<readonly Variant[]> {
    return run(this, flagOperations.setVariants, { ref, input: variants, context });
  }
}
