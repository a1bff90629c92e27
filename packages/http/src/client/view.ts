import { hash } from 'node:crypto';
import type {
  ConstraintDefinition,
  DependencyDefinition,
  EnvironmentConfiguration,
  FlagConfiguration,
  Parameters,
  SegmentConfiguration,
  Settings,
  StrategyDefinition,
  VariantDefinition,
} from '@flags/core';
import type { Scope } from '../permissions.js';
import { labelsInQuery } from '../wire/tags.js';

/** The flags that a client sees: one environment, optionally limited to projects, a name prefix and labels. */
export interface View {
  readonly environment: string;
  /** Project ids in code-point order without duplicates. Undefined: all projects. */
  readonly projects: readonly string[] | undefined;
  readonly namePrefix: string;
  /** The flag has one of these labels. In code-point order without duplicates. Undefined: all flags. */
  readonly labels: readonly string[] | undefined;
}

interface ViewRequest {
  readonly scope: Scope;
  /** The parsed query parameters. */
  readonly query: Readonly<Record<string, unknown>>;
  readonly settings: Settings;
}

/** Returns the view of a request. Query filters can only narrow the token's scope. */
export function viewOf({ scope, query, settings }: ViewRequest): View {
  const { project, namePrefix = '' } = query as { readonly project?: readonly string[]; readonly namePrefix?: string };
  const environment = environmentOf({ scope, query, settings });
  return { environment, projects: projectsOf(scope, project), namePrefix, labels: labelsInQuery(query) };
}

/** Returns the token's environment. A token for any environment defers to the query, then to the settings. */
function environmentOf({ scope, query, settings }: ViewRequest): string {
  if (scope.environment !== '*') return scope.environment;
  return typeof query.environment === 'string' ? query.environment : settings.environment;
}

export function isInView(
  flag: Pick<FlagConfiguration, 'project' | 'name' | 'labels'>,
  { projects, namePrefix, labels }: View,
): boolean {
  const isOfProject = projects === undefined || projects.includes(flag.project);
  const hasLabel = labels === undefined || flag.labels.some((label) => labels.includes(label));
  return isOfProject && hasLabel && flag.name.startsWith(namePrefix);
}

/** Returns the cache key of a view; equal views have equal keys. */
export function keyOf({ environment, projects, namePrefix, labels }: View): string {
  return JSON.stringify([environment, namePrefix, projects, labels]);
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

/** The contents of a view: its flags, and the segments that they use. */
export interface Contents {
  readonly flags: readonly FlagConfiguration[];
  readonly segments: readonly SegmentConfiguration[];
}

export function contentsOf(configuration: EnvironmentConfiguration, view: View): Contents {
  const flags = configuration.flags.filter((flag) => isInView(flag, view));
  return { flags, segments: segmentsUsedBy(configuration, flags) };
}

/** Returns the segments that the flags use, in the order of the configuration. */
export function segmentsUsedBy(
  { segments }: EnvironmentConfiguration,
  flags: readonly FlagConfiguration[],
): readonly SegmentConfiguration[] {
  const used = new Set<number>();
  for (const flag of flags) {
    for (const strategy of strategiesInUse(flag)) for (const id of strategy.segments ?? []) used.add(id);
  }
  return used.size === 0 ? [] : segments.filter(({ id }) => used.has(id));
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

/**
 * Converts a flag for client SDKs. SDKs do not know disabled strategies, and enable a flag without strategies.
 * Therefore a flag with only disabled strategies is sent as disabled, which is its evaluation.
 */
export function clientFlagToWire(flag: FlagConfiguration) {
  const { name, type, description, project, enabled, stale, impressionData = false, variants, dependencies } = flag;
  const strategies = strategiesInUse(flag);
  const canHold = flag.strategies.length === 0 || strategies.length > 0;
  return {
    name,
    type,
    ...(description !== null && { description }),
    project,
    enabled: enabled && canHold,
    stale,
    impressionData,
    strategies: strategies.map(clientStrategyToWire),
    variants: (variants ?? []).map(clientVariantToWire),
    ...(dependencies && dependencies.length > 0 && { dependencies: dependencies.map(clientDependencyToWire) }),
  };
}

export function clientSegmentToWire({ id, name, constraints }: SegmentConfiguration) {
  return { id, name, constraints: constraints.map(clientConstraintToWire) };
}

export function strategiesInUse({ strategies }: FlagConfiguration): readonly StrategyDefinition[] {
  return strategies.filter(({ disabled }) => !disabled);
}

export function clientStrategyToWire({ name, parameters, constraints, segments, variants }: StrategyDefinition) {
  return {
    name,
    parameters: parametersToWire(parameters ?? {}),
    constraints: (constraints ?? []).map(clientConstraintToWire),
    ...(segments && segments.length > 0 && { segments }),
    ...(variants && variants.length > 0 && { variants: variants.map(strategyVariantToWire) }),
  };
}

/** Converts numbers to text, because SDKs in typed languages fail on numbers. Omits null parameters. */
function parametersToWire(parameters: Parameters): Readonly<Record<string, string>> {
  const given = Object.entries(parameters).filter(([, value]) => value !== null);
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}

/** Includes every member, because some SDKs require all of them. */
export function clientConstraintToWire(constraint: ConstraintDefinition) {
  const { contextName, operator, values = [], value, inverted = false, caseInsensitive = false } = constraint;
  return { contextName, operator, values, value, inverted, caseInsensitive };
}

function strategyVariantToWire({ name, weight, stickiness = 'default', payload }: VariantDefinition) {
  return { name, weight, stickiness, ...(payload && { payload }) };
}

function clientVariantToWire(variant: VariantDefinition) {
  return { ...strategyVariantToWire(variant), overrides: variant.overrides ?? [] };
}

function clientDependencyToWire({ feature, enabled = true, variants }: DependencyDefinition) {
  return { feature, enabled, ...(variants && variants.length > 0 && { variants }) };
}

/** Returns the JSON of a flag. Not cached, because the texts of all flags would double the memory. */
export function flagText(flag: FlagConfiguration): string {
  return JSON.stringify(clientFlagToWire(flag));
}

/** Returns the JSON of a segment. */
export function segmentText(segment: SegmentConfiguration): string {
  return JSON.stringify(clientSegmentToWire(segment));
}

/** Returns the hash of a flag's JSON. Memoized per object: a flag's object changes only with the flag. */
export const flagDigest = rememberDigest(flagText);

/** Returns the hash of a segment's JSON, memoized per object. */
export const segmentDigest = rememberDigest(segmentText);

function rememberDigest<Item extends object>(toText: (item: Item) => string): (item: Item) => string {
  const digests = new WeakMap<Item, string>();
  return (item) => {
    const known = digests.get(item);
    if (known !== undefined) return known;
    const digest = hash('sha256', toText(item), 'base64').slice(0, 22);
    digests.set(item, digest);
    return digest;
  };
}
