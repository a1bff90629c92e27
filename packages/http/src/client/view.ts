import type { FlagConfiguration, Settings } from '@flags/core';
import type { Scope } from '../permissions.js';

/** The flags that a client sees: one environment, optionally limited to projects and a name prefix. */
export interface View {
  readonly environment: string;
  /** Project ids in code-point order without duplicates. Undefined: all projects. */
  readonly projects: readonly string[] | undefined;
  readonly namePrefix: string;
}

export interface ViewRequest {
  readonly scope: Scope;
  /** The parsed query parameters. */
  readonly query: Readonly<Record<string, unknown>>;
  readonly settings: Settings;
}

/** Returns the view of a request. Query filters can only narrow the token's scope. */
export function viewOf({ scope, query, settings }: ViewRequest): View {
  const { project, namePrefix = '' } = query as { readonly project?: readonly string[]; readonly namePrefix?: string };
  const environment = environmentOf({ scope, query, settings });
  return { environment, projects: projectsOf(scope, project), namePrefix };
}

/** Returns the token's environment. A token for any environment defers to the query, then to the settings. */
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

/** Returns the cache key of a view; equal views have equal keys. */
export function keyOf({ environment, projects, namePrefix }: View): string {
  return JSON.stringify([environment, namePrefix, projects]);
}

function projectsOf({ projects }: Scope, requestedProjects: readonly string[] = []): readonly string[] | undefined {
  const isAll = requestedProjects.length === 0 || requestedProjects.includes('*');
  if (projects === '*') return isAll ? undefined : sorted(requestedProjects);
  const requestedSet = new Set(requestedProjects);
  return sorted(isAll ? projects : projects.filter((project) => requestedSet.has(project)));
}

/** Returns the ids in code-point order without duplicates. */
function sorted(projects: readonly string[]): readonly string[] {
  return [...new Set(projects)].sort();
}

/** The request header with the SDK's version of the client specification. */
export const CLIENT_SPEC_HEADER = 'Unleash-Client-Spec';

/** The form of segments: `beside` the flags, or `inlined` as constraints for SDKs without segment support. */
export type SegmentForm = 'beside' | 'inlined';

/** Client specification 4.2.0 introduced segments. A client without a version is older. */
export function segmentFormFor(clientSpec: string | undefined): SegmentForm {
  const [, major, minor] = /^(\d{1,4})\.(\d{1,4})(?:\D|$)/.exec(clientSpec ?? '') ?? [];
  const knowsSegments = Number(major) > 4 || (Number(major) === 4 && Number(minor) >= 2);
  return knowsSegments ? 'beside' : 'inlined';
}
