import type { Dependency } from '../api/dependencies.js';
import { canBeParent } from '../domain/dependencies.js';
import { dependenciesOf, type FlagState } from '../domain/flag.js';
import { flagDocuments } from '../engine/aggregates.js';
import type { Engine } from '../engine/engine.js';
import type { Read } from '../engine/reader.js';
import { listStoredFlags } from './flag-lists.js';
import type { ListedFlag } from './flag-views.js';

/** A flag by its name and project, whether it exists or not. */
type NamedFlag = Pick<FlagState, 'name' | 'project'>;

/** The flags that depend on a flag, archived or not, in name order. */
export async function listChildren(engine: Engine, { name, project }: NamedFlag): Promise<readonly ListedFlag[]> {
  return (await listStoredFlags(engine, project)).filter(({ parents }) => parents.includes(name));
}

/** The names of the flags, not archived, that depend on a flag. */
export async function listLiveChildren(engine: Engine, flag: NamedFlag): Promise<readonly string[]> {
  return namesOf((await listChildren(engine, flag)).filter(({ archived }) => !archived));
}

/**
 * What a copy of a flag can depend on: the parents that are still there. Nothing where the archive holds flags that
 * depend on an earlier flag of the copy's name, which they find again in the copy.
 */
export async function inheritableDependencies(
  engine: Engine,
  { source, name, read }: { readonly source: FlagState; readonly name: string; readonly read: Read },
): Promise<readonly Dependency[]> {
  const dependencies = dependenciesOf(source);
  if (dependencies.length === 0) return [];
  if ((await listChildren(engine, { name, project: source.project })).length > 0) return [];
  const parents = await Promise.all(dependencies.map(({ flag }) => read(flagDocuments, flag)));
  return dependencies.filter((_, i) => canBeParent(parents[i]?.state, source.project));
}

export function namesOf(flags: readonly ListedFlag[]): readonly string[] {
  return flags.map(({ name }) => name);
}
