import type { DefinedFlag, DependencyInput } from '@flags/core';
import type { DefinedProject, DefinedSegment } from '@flags/core/types';
import { CommandError } from '../output.js';
import {
  type Imported,
  type ImportTarget,
  listOf,
  type Members,
  membersOf,
  Report,
  textOf,
  textsOf,
  toDefinitions,
  toName,
} from './importer.js';
import { toConstraints } from './unleash-constraints.js';
import { createEnvironments } from './unleash-environments.js';

/**
 * Converts a state export of Unleash 4 and 5, or the export of one environment of later versions.
 *
 * @throws CommandError
 */
export function importUnleash(document: unknown, target: ImportTarget): Imported {
  const state = membersOf(document);
  assertEnvironments(state);
  assertSwitches(state);
  const report = new Report();
  const segments = listOf(state.segments).flatMap((segment) => toSegment(segment, report));
  // Strategies refer to segments by name, so a segment of the store is used if the export has no constraints.
  const known = new Map(listOf(state.segments).map(({ id, name }) => [Number(id), `${name}`]));
  const environmentsOf = createEnvironments(state, { target, report, known });
  const tags = labelsByFlag(state, report);
  const flags = listOf(state.features).map((feature): DefinedFlag => {
    const original = `${feature.name}`;
    const name = toName(original, report);
    const { configured, variants } = environmentsOf(original, feature);
    const dependencies = dependenciesOf(state, original, feature);
    // An export of one environment has its variants. Lists of archived flags have no variants.
    const isComplete = state.version !== undefined && feature.archived !== true;
    return {
      name,
      ...toMetadata(feature),
      labels: tags.get(original) ?? [],
      ...((isComplete || variants.length > 0) && { variants }),
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
  return { definitions: toDefinitions({ projects: toProjects(state), segments, flags }), report: report.sentences };
}

const WITHOUT_EQUIVALENT = {
  contextFields: 'context fields',
  strategies: 'definitions of strategies',
  links: 'links of flags',
};

/**
 * State files of version 1 are of Unleash 3: strategies and the switch belong to the flag, and no environment has them.
 *
 * @throws CommandError
 */
function assertEnvironments({ version }: Members): void {
  if (Number(version ?? Infinity) >= 2) return;
  throw new CommandError(
    'This is a state export of version 1, as Unleash 3 writes it: its flags have no environments. Import it into ' +
      'Unleash 4, and import from that server.',
  );
}

/**
 * The open edition of Unleash 6.6 to 6.10 exports every flag of an environment as on. A flag without a strategy shows
 * that, because enabling it would have added a strategy.
 *
 * @throws CommandError
 */
function assertSwitches({ version, featureEnvironments, featureStrategies }: Members): void {
  const switches = listOf(featureEnvironments);
  const configured = new Set(listOf(featureStrategies).map(({ featureName }) => featureName));
  if (version !== undefined || !switches.every(({ enabled }) => enabled === true)) return;
  const without = switches.find(({ featureName }) => !configured.has(featureName));
  if (!without) return;
  throw new CommandError(
    `Every flag is on in this export, even ${without.featureName}, which has no strategy. Some versions of Unleash 6 write ` +
      'that for flags that are off. Import from the live server instead.',
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
  const name = `${segment.name}`;
  if (!Array.isArray(segment.constraints)) {
    report.add(
      `The segment ${name} has no constraints in this export. Create it first, or import from the live server.`,
    );
    return [];
  }
  const { constraints, holds } = toConstraints(segment.constraints);
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
  return {
    project: project ?? 'default',
    ...(type !== undefined && { type }),
    description: textOf(feature.description) ?? null,
    stale: feature.stale === true,
    impressionData: feature.impressionData === true,
    ...(createdAt !== undefined && { createdAt }),
    ...(isArchived && { archived: true, ...(archivedAt !== undefined && { archivedAt }) }),
  };
}

/** A tag of the type `simple` becomes its value, any other `type:value`. */
function labelsByFlag(state: Members, report: Report): ReadonlyMap<string, readonly string[]> {
  const labels = new Map<string, string[]>();
  const add = (flag: string, type: string | undefined, value: string) => {
    const label = type === undefined || type === 'simple' ? value : `${type}:${value}`;
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
    flag: `${flag}`,
    enabled: enabled !== false,
    variants: enabled === false ? [] : textsOf(variants),
  }));
}
