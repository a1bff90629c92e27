import type { Definitions, DependencyInput } from '@flags/core';
import type { DefinedProject, DefinedSegment } from '@flags/core/types';
import {
  convertFlags,
  type Importer,
  type ImportTarget,
  listOf,
  type Members,
  membersOf,
  type Report,
  textOf,
  textsOf,
  toDefinitions,
  toName,
} from './importer.js';
import { toConstraints } from './unleash-constraints.js';
import { createEnvironments } from './unleash-environments.js';

/**
 * Converts a state export of Unleash 4 and 5, the export of one environment of later versions, or the answer of a client
 * API, whose flags have the configuration of one environment.
 */
export const unleash: Importer = { refuse, convert };

function convert(document: unknown, target: ImportTarget, report: Report): Definitions {
  const given = stateOf(document);
  const isOfClient = lacksEnvironments(given);
  const state = isOfClient ? withEnvironments(given, target) : given;
  const segments = listOf(state.segments).flatMap((segment) => toSegment(segment, report));
  // Strategies refer to segments by name, so a segment of the store is used if the export has no constraints.
  const known = new Map(listOf(state.segments).map(({ id, name }) => [Number(id), `${name}`.trim()]));
  const environmentsOf = createEnvironments(state, { target, report, known });
  const tags = labelsByFlag(state, report);
  const features = listOf(state.features).map((feature) => [`${feature.name}`, feature] as const);
  const flags = convertFlags(features, report, (_, feature) => {
    const original = `${feature.name}`;
    const { configured, variants } = environmentsOf(original, feature);
    const dependencies = dependenciesOf(state, original, feature);
    // An export of one environment has its variants. Lists of archived flags have no variants.
    const isComplete = state.version !== undefined && feature.archived !== true && !isOfClient;
    const hasVariants = isComplete || variants.length > 0 || (isOfClient && Array.isArray(feature.variants));
    // SDKs get no tags.
    const labels = tags.get(original) ?? (isOfClient && !state.featureTags ? undefined : []);
    return {
      ...toMetadata(feature),
      ...(labels && { labels }),
      ...(hasVariants && { variants }),
      ...(dependencies && { dependencies }),
      environments: configured,
    };
  });
  const archived = flags.filter((flag) => flag.archived).length;
  if (archived > 0) report.add(`Archived flags (${archived}) come without their strategies and variants.`);
  const leftOut = Object.entries(WITHOUT_EQUIVALENT).flatMap(([member, title]) => {
    const { length } = listOf(state[member]);
    return length > 0 ? [`${title} (${length})`] : [];
  });
  if (leftOut.length > 0) report.add(`The import leaves out settings that have no equivalent: ${leftOut.join(', ')}.`);
  return toDefinitions({ projects: toProjects(state), segments, flags });
}

/** An SDK may be started with a list of flags alone. */
function stateOf(document: unknown): Members {
  return Array.isArray(document) ? { version: 1, features: document } : membersOf(document);
}

/** Whether the flag has the switch and the strategies itself, as in the answers that SDKs get. */
function isFromClient({ environments, enabled, strategies }: Members): boolean {
  return environments === undefined && (typeof enabled === 'boolean' || Array.isArray(strategies));
}

function lacksEnvironments(state: Members): boolean {
  return state.featureEnvironments === undefined && listOf(state.features).some(isFromClient);
}

/** Gives flags without environments the one that the caller has named. */
function withEnvironments(state: Members, { environment }: ImportTarget): Members {
  const features = listOf(state.features).map((feature) => {
    const { enabled, strategies } = feature;
    return isFromClient(feature) ? { ...feature, environments: [{ name: environment, enabled, strategies }] } : feature;
  });
  return { ...state, features };
}

function refuse(document: unknown, { isNamed }: ImportTarget): string | undefined {
  const state = stateOf(document);
  const { features, data, version } = state;
  if (features === undefined && membersOf(data).features !== undefined) {
    return 'This is the body of an import into Unleash: pass its member "data" alone';
  }
  if (Array.isArray(document) && listOf(document).some(({ active, scopes }) => active !== undefined || scopes)) {
    return `This is an answer of GitLab's API for people. ${OF_GITLAB}`;
  }
  const all = listOf(features);
  if (!Array.isArray(features) || all.some(({ name }) => typeof name !== 'string')) {
    if (features === undefined && isState(state)) return undefined;
    return 'This is not an export of Unleash: it has no list "features" of flags with names';
  }
  const everyOn = findWrongSwitch(state);
  if (everyOn !== undefined) return everyOn;
  if (isNamed || !lacksEnvironments(state)) return undefined;
  if (isOfGitLab(all)) return `This is an answer of GitLab for SDKs: its flags have no environments. ${NAME_ONE}`;
  if (version === 1 && !Array.isArray(document)) return VERSION_1;
  return `This is what an SDK gets or keeps: its flags have no environments. ${NAME_ONE}`;
}

const NAME_ONE = 'Name the environment that it is of: --environment NAME';
const OF_GITLAB = 'Import what it answers to SDKs: /api/v4/feature_flags/unleash/PROJECT/client/features';
const VERSION_1 =
  'This is a state export of version 1, as Unleash 3 and 4.0 write it, or what an SDK gets: its flags have no ' +
  `environments. Import it into Unleash 4, from 4.1 on, and import from that server. Or: ${NAME_ONE}`;

/** Whether the document has other lists of a state export. It has no list of flags if there are none. */
function isState(state: Members): boolean {
  return ['projects', 'segments', 'strategies', 'tagTypes', 'featureStrategies'].some((member) =>
    Array.isArray(state[member]),
  );
}

/** GitLab gives its flags these members only. */
function isOfGitLab(features: readonly Members[]): boolean {
  const known = ['name', 'description', 'enabled', 'strategies'];
  return features.every(
    (feature) => 'description' in feature && Object.keys(feature).every((one) => known.includes(one)),
  );
}

const WITHOUT_EQUIVALENT = {
  contextFields: 'context fields',
  strategies: 'definitions of strategies',
  links: 'links of flags',
};

/**
 * The open edition of Unleash 6.6 to 6.10 exports every flag of an environment as on. A flag without a strategy shows
 * that, because enabling it would have added a strategy.
 */
function findWrongSwitch({ version, featureEnvironments, featureStrategies }: Members): string | undefined {
  const switches = listOf(featureEnvironments);
  const configured = new Set(listOf(featureStrategies).map(({ featureName }) => featureName));
  if (version !== undefined || !switches.every(({ enabled }) => enabled === true)) return undefined;
  const without = switches.find(({ featureName }) => !configured.has(featureName));
  if (!without) return undefined;
  return (
    `Every flag is on in this export, even ${without.featureName}, which has no strategy. Some versions of Unleash 6 ` +
    'write that for flags that are off. Import from the live server instead'
  );
}

function toProjects(state: Members): readonly DefinedProject[] {
  const listed = listOf(state.projects).map(({ id, name, description, createdAt }): DefinedProject => {
    const [title, text, time] = [textOf(name), textOf(description), textOf(createdAt)];
    return {
      id: `${id}`,
      ...(title && { name: title.slice(0, 100) }),
      ...(text !== undefined && { description: text.slice(0, 1000) }),
      ...(time !== undefined && { createdAt: time }),
    };
  });
  const known = new Set(['default', ...listed.map(({ id }) => id)]);
  const named = new Set(
    [...listOf(state.features), ...listOf(state.segments)].flatMap(({ project }) => textOf(project) ?? []),
  );
  return [...listed, ...[...named].filter((id) => !known.has(id)).map((id) => ({ id }))];
}

function toSegment(segment: Members, report: Report): readonly DefinedSegment[] {
  const name = `${segment.name}`.trim();
  if (name !== segment.name) report.add(`The segment ${name}: blanks around its name are dropped.`);
  if (!Array.isArray(segment.constraints)) {
    report.add(
      `The segment ${name} has no constraints in this export. Create it first, or import from the live server.`,
    );
    return [];
  }
  const { constraints, holds } = toConstraints(segment.constraints, `The segment ${name}`, report);
  if (!holds) report.add(`The segment ${name} has a constraint that holds for nobody.`);
  const [createdAt, createdBy] = [textOf(segment.createdAt), textOf(segment.createdBy)];
  return [
    {
      ...(typeof segment.id === 'number' && { id: segment.id }),
      name,
      description: textOf(segment.description) ?? '',
      project: textOf(segment.project) ?? null,
      constraints: holds ? constraints : NEVER,
      ...(createdAt !== undefined && { createdAt }),
      ...(createdBy && { createdBy }),
    },
  ];
}

/** A constraint that matches no context. */
const NEVER = [{ contextName: 'userId', operator: 'IN' as const, values: ['(nobody)'] }];

function toMetadata(feature: Members) {
  const [project, type, createdAt] = [textOf(feature.project), textOf(feature.type), textOf(feature.createdAt)];
  const archivedAt = textOf(feature.archivedAt);
  const isArchived = feature.archived === true || archivedAt !== undefined;
  const { description, stale, impressionData } = feature;
  // Members that the source does not have stay as they are.
  return {
    ...(project !== undefined && { project }),
    ...(type !== undefined && { type }),
    ...(description !== undefined && { description: textOf(description) ?? null }),
    ...(stale !== undefined && { stale: stale === true }),
    ...(impressionData !== undefined && { impressionData: impressionData === true }),
    ...(createdAt !== undefined && { createdAt }),
    ...(isArchived && { archived: true, ...(archivedAt !== undefined && { archivedAt }) }),
  };
}

/** A tag of the type `simple` becomes its value, any other `type:value`. */
function labelsByFlag(state: Members, report: Report): ReadonlyMap<string, readonly string[]> {
  const labels = new Map<string, string[]>();
  const add = (flag: string, type: string | undefined, value: string) => {
    const label = (type === undefined || type === 'simple' ? value : `${type}:${value}`).trim();
    const own = labels.get(flag) ?? [];
    labels.set(flag, own);
    if (own.includes(label)) return;
    if (label.length > 50 || label === '' || own.length === 20) report.add(`${flag}: the tag ${label} is left out.`);
    else own.push(label);
  };
  for (const { featureName, tagType, tagValue } of listOf(state.featureTags)) {
    add(`${featureName}`, textOf(tagType), `${tagValue}`);
  }
  for (const { name, tags } of listOf(state.features)) {
    for (const { type, value } of listOf(tags)) add(`${name}`, textOf(type), `${value}`);
  }
  return labels;
}

/** Returns undefined if the source does not tell: state exports lack dependencies, and so do lists of archived flags. */
function dependenciesOf(state: Members, name: string, feature: Members): readonly DependencyInput[] | undefined {
  if (state.dependencies === undefined && feature.dependencies === undefined) return undefined;
  const own = listOf(state.dependencies).find((one) => one.feature === name);
  return listOf(own?.dependencies ?? feature.dependencies).map(({ feature: flag, enabled, variants }) => ({
    flag: toName(`${flag}`),
    enabled: enabled !== false,
    variants: enabled === false ? [] : textsOf(variants),
  }));
}
