import {
  clientConstraintToWire,
  clientFlagToWire,
  clientSegmentToWire,
  clientStrategyToWire,
  findFlag,
  strategiesInUse,
} from '@flags/core/integration/http';
import type {
  ConstraintDefinition,
  EnvironmentConfiguration,
  FlagConfiguration,
  SegmentConfiguration,
  StrategyDefinition,
} from '@flags/core/types';
import type { Scope } from '../auth/permissions.js';
import { invalidInput } from '../messages/errors.js';
import { jsonArray, type Pieces, piecesOf } from '../messages/json.js';
import type { FlagsSource } from '../source.js';

/** The request of a client: the flags of one environment, optionally limited to projects, a name prefix and labels. */
export interface ClientQuery {
  readonly environment: string;
  /** Project ids in code-point order without duplicates. Undefined: all projects. */
  readonly projects: readonly string[] | undefined;
  readonly namePrefix: string;
  /** The flag has one of these labels. In code-point order without duplicates. Undefined: all flags. */
  readonly labels: readonly string[] | undefined;
}

interface QueryParts {
  readonly scope: Scope;
  /** The parsed query parameters. */
  readonly query: Readonly<Record<string, unknown>>;
  readonly source: Pick<FlagsSource, 'settings' | 'following'>;
}

/**
 * Parses a request. Query filters can only narrow the token's scope.
 *
 * @throws FlagsError `invalid_input` for a filter by tags on a follower: what it reads has no labels
 */
export function clientQueryOf({ scope, query, source }: QueryParts): ClientQuery {
  const { project, namePrefix = '' } = query as { readonly project?: readonly string[]; readonly namePrefix?: string };
  const labels = labelsInQuery(query);
  if (labels !== undefined && source.following) {
    const message = 'cannot filter here: this server is a follower, which does not know the tags of flags';
    throw invalidInput([{ message, path: '/tag' }]);
  }
  const environment = environmentOf({ scope, query, source });
  return { environment, projects: projectsOf(scope, project), namePrefix, labels };
}

/** Returns the token's environment. A token for any environment defers to the query, then to the settings. */
function environmentOf({ scope, query, source }: QueryParts): string {
  if (scope.environment !== '*') return scope.environment;
  return typeof query.environment === 'string' ? query.environment : source.settings.environment;
}

export function isSelected(
  flag: Pick<FlagConfiguration, 'project' | 'name' | 'labels'>,
  { projects, namePrefix, labels }: ClientQuery,
): boolean {
  const isOfProject = projects === undefined || projects.includes(flag.project);
  const hasLabel = labels === undefined || flag.labels.some((label) => labels.includes(label));
  return isOfProject && hasLabel && flag.name.startsWith(namePrefix);
}

/**
 * Returns the names of the selected flags, in the order of the configuration. Every iteration selects again: many
 * simultaneous evaluations would hold a list of 10,000 names each.
 */
export function selectedNames(
  { flags }: Pick<EnvironmentConfiguration, 'flags'>,
  query: ClientQuery,
): Iterable<string> {
  return {
    *[Symbol.iterator]() {
      for (const flag of flags) if (isSelected(flag, query)) yield flag.name;
    },
  };
}

/** Returns a cache key. Equal queries have equal keys. */
export function keyOf({ environment, projects, namePrefix, labels }: ClientQuery): string {
  return JSON.stringify([environment, namePrefix, projects, labels]);
}

/** The only type of tag, which every Unleash 4.x server has: its tags are the labels. */
export const SIMPLE = 'simple';

/**
 * Returns the labels that the tags in a query name; undefined without tags. The label of a tag of another type is the
 * whole tag, as imports from Unleash make it.
 */
export function labelsInQuery(query: Readonly<Record<string, unknown>>): readonly string[] | undefined {
  const { tag: tags } = query as { readonly tag?: readonly string[] };
  if (tags === undefined) return undefined;
  const prefix = `${SIMPLE}:`;
  const labels = tags.map((tag) => (tag.startsWith(prefix) ? tag.slice(prefix.length) : tag));
  return [...new Set(labels)].sort();
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

/** The flags that a client asks for, and the segments that they use. */
export interface ClientDocument {
  readonly flags: readonly FlagConfiguration[];
  readonly segments: readonly SegmentConfiguration[];
}

export function clientDocumentOf(configuration: EnvironmentConfiguration, query: ClientQuery): ClientDocument {
  const flags = configuration.flags.filter((flag) => isSelected(flag, query));
  return { flags, segments: segmentsUsedBy(configuration, flags) };
}

/** A {@link ClientDocument} whose flags are selected while the reply is written. */
interface Selection {
  readonly flags: Iterable<FlagConfiguration>;
  readonly segments: Iterable<SegmentConfiguration>;
}

/**
 * Selects at each iteration. Many simultaneous clients would each hold a list of 10,000 flags, and would select them in
 * one turn of the event loop before the first pause.
 */
function selectionOf(configuration: EnvironmentConfiguration, query: ClientQuery): Selection {
  const flags = {
    *[Symbol.iterator]() {
      for (const flag of configuration.flags) if (isSelected(flag, query)) yield flag;
    },
  };
  const segments = {
    *[Symbol.iterator]() {
      yield* segmentsUsedBy(configuration, flags);
    },
  };
  return { flags, segments };
}

/** Returns the segments that the flags use, in the order of the configuration. */
function segmentsUsedBy(
  { segments }: EnvironmentConfiguration,
  flags: Iterable<FlagConfiguration>,
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

/** Replaces a missing segment. Clients of any age evaluate `IN` with an empty list to false. */
const NEVER: ConstraintDefinition = { contextName: 'userId', operator: 'IN', values: [] };

type SegmentsById = ReadonlyMap<number, SegmentConfiguration>;

/** A flag as clients get it. Its strategies may be a sequence of pieces. */
type WireFlag = Omit<ReturnType<typeof clientFlagToWire>, 'strategies'> & { readonly strategies: unknown };

/** More values of a constraint are generated in pieces, because many clients may wait for the same ones. */
const MANY_VALUES = 1000;

/**
 * Converts a flag. For clients without segment support, each strategy includes the constraints of its segments, one by
 * one, because many strategies may share a large segment.
 *
 * @param inlined all segments, for such a client
 */
export function flagToWire(flag: FlagConfiguration, inlined?: SegmentsById): WireFlag {
  if (!inlined && !hasManyValues(flag)) return clientFlagToWire(flag);
  const strategies = jsonArray(strategiesInUse(flag), (strategy) => {
    const wire = clientStrategyToWire(strategy);
    if (!inlined) return { ...wire, constraints: constraintsToWire(strategy.constraints ?? []) };
    const { segments: _references, ...own } = wire;
    return { ...own, constraints: constraintsToWire(allConstraints(strategy, inlined)) };
  });
  return { ...clientFlagToWire(flag), strategies };
}

function hasManyValues({ strategies }: FlagConfiguration): boolean {
  return strategies.some(({ constraints }) => constraints?.some(({ values = [] }) => values.length > MANY_VALUES));
}

/** Converts a segment for clients with segment support. */
export function segmentToWire(segment: SegmentConfiguration) {
  return { ...clientSegmentToWire(segment), constraints: constraintsToWire(segment.constraints) };
}

function constraintsToWire(constraints: Iterable<ConstraintDefinition>) {
  return jsonArray(constraints, (constraint) => {
    const wire = clientConstraintToWire(constraint);
    return wire.values.length > MANY_VALUES ? { ...wire, values: jsonArray(wire.values) } : wire;
  });
}

function* allConstraints(strategy: StrategyDefinition, segments: SegmentsById): Generator<ConstraintDefinition> {
  yield* strategy.constraints ?? [];
  for (const id of strategy.segments ?? []) yield* segments.get(id)?.constraints ?? [NEVER];
}

/** The request of a client, and the form that it reads. */
export interface ClientRequest {
  readonly asked: ClientQuery;
  readonly segments: SegmentForm;
}

/** A reply that is the same for all clients with this request, until the configuration changes. */
interface ClientReply {
  /** The request and the version of the configuration. */
  readonly key: string;
  readonly generate: () => Pieces;
}

/**
 * Returns the flags that a client asks for, with their segments.
 *
 * @throws FlagsError `environment_not_found`
 */
export function clientFeatures(source: FlagsSource, { asked, segments: form }: ClientRequest): ClientReply {
  const configuration = source.configuration(asked);
  const selection = selectionOf(configuration, asked);
  const inlined = form === 'inlined' ? () => byId(configuration) : () => undefined;
  return {
    key: `flags ${form} ${keyOf(asked)} ${configuration.version}`,
    generate: () => piecesOf(featuresToWire(selection, asked, inlined())),
  };
}

/**
 * Returns one flag; undefined if the client may not see such a flag.
 *
 * @throws FlagsError `environment_not_found`
 */
export function clientFeature(
  source: FlagsSource,
  { asked, segments: form }: ClientRequest,
  name: string,
): ClientReply | undefined {
  const configuration = source.configuration(asked);
  const flag = findFlag(configuration, name);
  if (!flag || !isSelected(flag, asked)) return undefined;
  return {
    key: `flag ${form} ${asked.environment} ${name} ${configuration.version}`,
    generate: () => piecesOf(flagToWire(flag, form === 'inlined' ? byId(configuration) : undefined)),
  };
}

/** @param inlined all segments, for a client without segment support */
function featuresToWire({ flags, segments }: Selection, asked: ClientQuery, inlined?: SegmentsById) {
  const { environment, projects, namePrefix, labels } = asked;
  const tag = labels?.map((label) => [SIMPLE, label]);
  const query = { environment, project: projects, ...(namePrefix !== '' && { namePrefix }), tag };
  if (inlined) return { version: 2, features: jsonArray(flags, (flag) => flagToWire(flag, inlined)), query };
  const features = jsonArray(flags, (flag) => flagToWire(flag));
  return { version: 2, features, segments: jsonArray(segments, segmentToWire), query };
}

function byId({ segments }: EnvironmentConfiguration): SegmentsById {
  return new Map(segments.map((segment) => [segment.id, segment]));
}
