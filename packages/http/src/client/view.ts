import type { FlagConfiguration, Settings } from '@flags/core';
import type { Scope } from '../permissions.js';

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

/** The request header in which SDKs name the version of the client specification that they implement. */
export const CLIENT_SPEC_HEADER = 'Unleash-Client-Spec';

/** How segments are sent: beside the flags, or `inlined` as constraints for SDKs that do not know segments. */
export type SegmentForm = 'beside' | 'inlined';

/** Segments came with version 4.2.0 of the client specification. A client that names no version is older. */
export function segmentFormFor(clientSpec: string | undefined): SegmentForm {
  const [, major, minor] = /^(\d{1,4})\.(\d{1,4})(?:\D|$)/.exec(clientSpec ?? '') ?? [];
  const knowsSegments = Number(major) > 4 || (Number(major) === 4 && Number(minor) >= 2);
  return knowsSegments ? 'beside' : 'inlined';
}
