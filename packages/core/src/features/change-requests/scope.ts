import { compareCodePoints } from '../../base/collections.js';
import type { FlagRef } from '../../base/common.types.js';
import { FlagsError } from '../../base/errors.js';
import { isObject } from '../../base/json.js';
import { paced } from '../../base/paced.js';
import { toNoun } from '../../base/validator.js';
import type { DecidedSet } from '../../kernel/changes/change-engine.js';
import type { PlannedDocument } from '../../kernel/changes/change-set.types.js';
import type { GivenChange } from '../../kernel/changes/change-sets.operations.js';
import { toPlannedDocuments } from '../../kernel/changes/planned.js';
import { hashOf } from '../../kernel/changes/repetition.js';
import type { ChangeSetUnit } from '../../kernel/changes/unit-of-work.js';
import type { PreparedChange } from '../../kernel/engine.js';
import type { Registry } from '../../kernel/registry.js';
import { nameOf } from '../../storage/document-reader.js';
import type { DocumentKey } from '../../storage/port.js';
import type { FlagState } from '../flags/flag.js';
import { flagDocuments } from '../flags/flag.kind.js';
import { withPercentage } from '../flags/rollouts.decide.js';
import { projectDocuments } from '../projects/project.kind.js';
import type { RequestSummary } from './change-request.js';

/**
 * Returns the projects, flags and environments of a request: those that its changes name, those of the named documents,
 * even if nothing would change there now, and those of all documents that would change now.
 */
export async function scopeOf(
  changes: readonly GivenChange[],
  prepared: readonly PreparedChange[],
  { decided, registry }: { readonly decided: DecidedSet; readonly registry: Registry },
): Promise<Pick<RequestSummary, 'projects' | 'flags' | 'environments'>> {
  const projects = new Set<string | null>();
  const flags = new Map<string, FlagRef>();
  const environments = new Set<string>();
  const addFlag = (project: unknown, flag: unknown) => {
    if (typeof project === 'string' && typeof flag === 'string') flags.set(`${project} ${flag}`, { project, flag });
  };
  for (const change of changes) {
    const ref: Readonly<Record<string, unknown>> = 'ref' in change && isObject(change.ref) ? change.ref : {};
    if (typeof ref.project === 'string') projects.add(ref.project);
    if (typeof ref.environment === 'string') environments.add(ref.environment);
    addFlag(ref.project, ref.flag);
  }
  const addDocument = (document: Pick<PlannedDocument, 'kind' | 'id' | 'before' | 'after'>) => {
    for (const project of projectsOf(registry, document)) {
      projects.add(project);
      if (document.kind === flagDocuments.kind) addFlag(project, document.id);
    }
  };
  for (const { subject } of prepared) {
    const stored = await decided.unit.stored(subject);
    if (stored) addDocument({ ...subject, before: stored.state, after: null });
  }
  for (const document of toPlannedDocuments(registry, decided)) {
    addDocument(document);
    for (const { environment } of document.events) if (environment !== null) environments.add(environment);
  }
  // A request about no project is about the instance: its readers need permissions there.
  if (projects.size === 0) projects.add(null);
  return {
    projects: [...projects].sort((one, other) => compareCodePoints(one ?? '', other ?? '')),
    flags: [...flags].sort(([one], [other]) => compareCodePoints(one, other)).map(([, ref]) => ref),
    environments: [...environments].sort(compareCodePoints),
  };
}

function projectsOf(
  { kindOf }: Registry,
  { kind, id, before, after }: Pick<PlannedDocument, 'kind' | 'id' | 'before' | 'after'>,
): readonly (string | null)[] {
  if (kind === projectDocuments.kind) return [id];
  const states = [before, after].filter(isObject);
  return states.map((state) => kindOf(kind)?.projectOf(state) ?? null);
}

/** Returns the hash of the stored content of every document that the changes touch. */
export async function hashContents(
  unit: ChangeSetUnit,
  changes: readonly PreparedChange[],
): Promise<Readonly<Record<string, string>>> {
  const keys = [...changes, ...unit.events].map(({ subject }) => subject);
  const contents: Record<string, string> = {};
  for await (const key of paced(new Map(keys.map((one) => [nameOf(one), one])).values())) {
    contents[nameOf(key)] = await hashOfStored(unit, key);
  }
  return contents;
}

async function hashOfStored(unit: ChangeSetUnit, key: DocumentKey): Promise<string> {
  const state = (await unit.stored(key))?.state ?? null;
  return hashOf(state && key.kind === flagDocuments.kind ? withoutProgress(state as FlagState) : state);
}

/**
 * Returns a flag without the members that rollouts change: a step of a rollout must not make a request with
 * `ifUnchanged` fail.
 */
function withoutProgress(flag: FlagState): unknown {
  const environments = flag.environments.map(({ rollouts = {}, strategies, ...environment }) => ({
    ...environment,
    strategies: strategies.map((one) => (Object.hasOwn(rollouts, one.id) ? withPercentage(one, 0) : one)),
    rollouts: Object.entries(rollouts).map(
      ([id, { step: _, since: _since, state: _state, failure: _why, ...plan }]) => {
        return [id, plan];
      },
    ),
  }));
  return { ...flag, environments };
}

/** Throws `revision_mismatch` if a document has other content than when the request was made. */
export async function assertUnchanged(unit: ChangeSetUnit, contents: Readonly<Record<string, string>>): Promise<void> {
  for await (const [name, hash] of paced(Object.entries(contents))) {
    const space = name.indexOf(' ');
    const key = { kind: name.slice(0, space), id: name.slice(space + 1) };
    if ((await hashOfStored(unit, key)) === hash) continue;
    const message = `The ${toNoun(key.kind)} ${key.id} is not as it was when the change request was made; look at it, and make another request.`;
    throw new FlagsError('revision_mismatch', message);
  }
}
