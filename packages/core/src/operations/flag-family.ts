import type { Dependency } from '../api/dependencies.js';
import { canBeParent } from '../domain/dependencies.js';
import { dependenciesOf, type FlagState } from '../domain/flag.js';
import { type DependencyEdge, dependencyEdges, flagDocuments } from '../engine/aggregates.js';
import type { Engine } from '../engine/engine.js';
import type { Read } from '../engine/reader.js';

/** The names of the flags that depend on the one of this name, archived or not, in name order. */
export async function listChildren({ storage }: Engine, parent: string): Promise<readonly string[]> {
  const edges = await storage.list({ kind: dependencyEdges.kind, parent, part: 'body' });
  return edges.map(({ content }) => (content as DependencyEdge).child);
}

/** The names of those that are not archived. */
export async function listLiveChildren(engine: Engine, parent: string): Promise<readonly string[]> {
  const names = await listChildren(engine, parent);
  const children = await Promise.all(names.map((name) => engine.read(flagDocuments, name)));
  return names.filter((_, i) => children[i]?.state.archived === false);
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
  if ((await listChildren(engine, name)).length > 0) return [];
  const parents = await Promise.all(dependencies.map(({ flag }) => read(flagDocuments, flag)));
  return dependencies.filter((_, i) => canBeParent(parents[i]?.state, source.project));
}
