import type { Versioned } from '../changes/aggregate.js';
import type { Engine } from '../changes/engine.js';
import type { ChangeContext, FlagRef, JsonPatch, ProjectRef } from '../common.types.js';
import { clonePatch } from '../replica/clone-json.js';
import { changeFlag, followReferences } from './change-flag.js';
import { inheritableDependencies, listLiveChildren } from './dependencies.operations.js';
import { findFlag, findProject, throwFlagNotFound } from './find.js';
import type { FlagState } from './flag.js';
import type { Flag, FlagChanges, FlagDetail, LabelChanges, NewFlag } from './flag.types.js';
import { flagDocuments } from './flag-documents.js';
import { readLastSeenAt, toDetail, toFlag } from './flag-views.js';
import * as lifecycle from './lifecycle.decide.js';
import * as metadata from './metadata.decide.js';

/** Copies an input, which the caller may change while the operation runs. */
function copyInput<Input extends NewFlag | FlagChanges>(input: Input): Input {
  return input.labels ? { ...input, labels: [...input.labels] } : { ...input };
}

export async function createFlag(
  engine: Engine,
  ref: ProjectRef,
  input: NewFlag,
  context?: ChangeContext,
): Promise<Flag> {
  const { validate, metrics, change, now } = engine;
  const { type = defaultType(engine), ...rest } = copyInput(validate.newFlag(input));
  const createdAt = now().toISOString();
  const lastSeenAt = await readLastSeenAt(metrics, rest.name);
  const created = await change({
    aggregate: flagDocuments,
    id: rest.name,
    context,
    decide: async (existing, read) => {
      const { state } = await findProject(read, ref);
      return lifecycle.createFlag(existing?.state, { ...rest, type }, { project: state.id, createdAt });
    },
  });
  return toFlag(created ?? throwFlagNotFound(rest.name), lastSeenAt);
}

export async function getFlag(engine: Engine, ref: FlagRef): Promise<FlagDetail> {
  const { settings, metrics, read } = engine;
  const found = await findFlag(read, ref);
  const [children, lastSeenAt] = await Promise.all([
    listLiveChildren(engine, ref.flag),
    readLastSeenAt(metrics, ref.flag),
  ]);
  return toDetail(toFlag(found, lastSeenAt), found.state, { settings, children });
}

export async function updateFlag(
  engine: Engine,
  ref: FlagRef,
  input: FlagChanges,
  context?: ChangeContext,
): Promise<Flag> {
  const { validate, metrics } = engine;
  const changes = copyInput(validate.flagChanges(input));
  const lastSeenAt = await readLastSeenAt(metrics, ref.flag);
  const updated = await changeFlag(engine, { ref, context }, (flag) =>
    metadata.changeMetadata(flag, changes, lastSeenAt),
  );
  return toFlag(updated, lastSeenAt);
}

export async function patchFlag(
  engine: Engine,
  ref: FlagRef,
  input: JsonPatch,
  context?: ChangeContext,
): Promise<Flag> {
  const { validate, metrics } = engine;
  const patch = clonePatch(validate.jsonPatch(input));
  const lastSeenAt = await readLastSeenAt(metrics, ref.flag);
  const patched = await changeFlag(engine, { ref, context }, (flag) =>
    metadata.patchMetadata(flag, { patch, lastSeenAt, validate: validate.flagChanges }),
  );
  return toFlag(patched, lastSeenAt);
}

export async function changeLabels(
  engine: Engine,
  ref: FlagRef,
  input: LabelChanges,
  context?: ChangeContext,
): Promise<Flag> {
  const { validate, metrics } = engine;
  const { add = [], remove = [] } = validate.labelChanges(input);
  const changes = { add: [...add], remove: [...remove] };
  const lastSeenAt = await readLastSeenAt(metrics, ref.flag);
  const changed = await changeFlag(engine, { ref, context }, (flag) =>
    metadata.changeLabels(flag, changes, { lastSeenAt, validate: validate.flagChanges }),
  );
  return toFlag(changed, lastSeenAt);
}

const PREFERRED_TYPE = 'release';

/** Returns `release`, or the first configured type if `release` is not configured. */
function defaultType({ settings }: Engine): string {
  const names = settings.flagTypes.map(({ name }) => name);
  return names.includes(PREFERRED_TYPE) ? PREFERRED_TYPE : (names[0] ?? PREFERRED_TYPE);
}

export async function cloneFlag(
  engine: Engine,
  ref: FlagRef,
  input: { readonly name: string },
  context?: ChangeContext,
): Promise<Flag> {
  const { validate, metrics, change, now } = engine;
  const { name } = validate.clone(input);
  const lastSeenAt = await readLastSeenAt(metrics, name);
  const origin = { name, createdAt: now().toISOString(), idFor: rememberIds(engine.newId) };
  const created = await change({
    aggregate: flagDocuments,
    id: name,
    revisionOf: { documents: flagDocuments, id: ref.flag },
    context,
    decide: async (existing, read) => {
      const source = await findFlag(read, ref);
      await findProject(read, ref);
      const dependencies = await inheritableDependencies(engine, { source: source.state, name, read });
      const events = lifecycle.cloneFlag(existing?.state, source.state, { ...origin, dependencies });
      return { events, sideWrites: await followReferences(read, undefined, events) };
    },
  });
  return toFlag(created ?? throwFlagNotFound(name), lastSeenAt);
}

/** Returns a function that assigns each strategy one new id. Repeated decisions get the same ids. */
function rememberIds(newId: () => string): (strategy: string) => string {
  const ids = new Map<string, string>();
  return (strategy) => {
    const id = ids.get(strategy) ?? newId();
    ids.set(strategy, id);
    return id;
  };
}

export async function archiveFlag(engine: Engine, ref: FlagRef, context?: ChangeContext): Promise<void> {
  const { now } = engine;
  const archivedAt = now().toISOString();
  await changeFlag(engine, { ref, context }, async (flag) => {
    return lifecycle.archiveFlag(flag, await listLiveChildren(engine, flag.name), archivedAt);
  });
}

export async function locateFlag({ read }: Engine, { flag }: { readonly flag: string }): Promise<FlagRef> {
  const { project } = assertFound(await read(flagDocuments, flag), { flag });
  return { project, flag };
}

export async function reviveFlag(
  { metrics, change }: Engine,
  { flag, project }: { readonly flag: string; readonly project?: string },
  context?: ChangeContext,
): Promise<Flag> {
  const lastSeenAt = await readLastSeenAt(metrics, flag);
  const revived = await change({
    aggregate: flagDocuments,
    id: flag,
    context,
    decide: (found) => lifecycle.reviveFlag(assertFound(found, { flag, project })),
  });
  return toFlag(revived ?? throwFlagNotFound(flag), lastSeenAt);
}

export async function deleteFlag(
  { retention, change }: Engine,
  { flag, project }: { readonly flag: string; readonly project?: string },
  context?: ChangeContext,
): Promise<void> {
  await change({
    aggregate: flagDocuments,
    id: flag,
    context,
    decide: async (found, read) => {
      const state = assertFound(found, { flag, project });
      const events = lifecycle.deleteFlag(state);
      return { events, sideWrites: await followReferences(read, state, events) };
    },
  });
  await retention.forget([flag]);
}

/** Returns the flag if it exists and belongs to the project, if one is named. Throws `flag_not_found` otherwise. */
function assertFound(
  found: Versioned<FlagState> | undefined,
  { flag, project }: { readonly flag: string; readonly project?: string | undefined },
): FlagState {
  if (!found || (project !== undefined && found.state.project !== project)) return throwFlagNotFound(flag);
  return found.state;
}
