import type { FlagConfiguration, Settings } from '@flags/core';
import type { Scope } from '../scope.js';

/** What a client sees: the flags of one environment, all of them or those of some projects or with some names. */
export interface View {
  readonly environment: string;
  /** Undefined: of every project. In code-point order, each once. */
  readonly projects: readonly string[] | undefined;
  readonly namePrefix: string;
}

export interface ViewRequest {
  readonly scope: Scope;
  /** The query parameters that were given. */
  readonly query: Readonly<Record<string, unknown>>;
  readonly settings: Settings;
}

/** What a request asks for within what it may see: a filter only narrows that. */
export function viewOf({ scope, query, settings }: ViewRequest): View {
  const { project, namePrefix = '' } = query as { readonly project?: readonly string[]; readonly namePrefix?: string };
  const environment = environmentOf({ scope, query, settings });
  return { environment, projects: projectsOf(scope, project), namePrefix };
}

/** The token's environment; where no token names one the query's, else the one of these flags. */
function environmentOf({ scope, query, settings }: ViewRequest): string {
  if (scope.environment !== '*') return scope.environment;
  return typeof query.environment === 'string' ? query.environment : settings.environment;
}

export function isInView(
  { project, name }: Pick<FlagConfiguration, 'project' | 'name'>,
  { projects, namePrefix }: View,
): boolean {
  return (projects === undefined || projects.includes(project)) && name.startsWith(namePrefix);
}

/** The same text for the same view. */
export function keyOf({ environment, projects, namePrefix }: View): string {
  return JSON.stringify([environment, namePrefix, projects]);
}

function projectsOf({ projects }: Scope, asked: readonly string[] = []): readonly string[] | undefined {
  const isAll = asked.length === 0 || asked.includes('*');
  if (projects === '*') return isAll ? undefined : sorted(asked);
  const wanted = new Set(asked);
  return sorted(isAll ? projects : projects.filter((project) => wanted.has(project)));
}

/** In code-point order, each once. */
function sorted(projects: readonly string[]): readonly string[] {
  return [...new Set(projects)].sort();
}
