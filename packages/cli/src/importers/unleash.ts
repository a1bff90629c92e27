import type {
  DefinedEnvironment,
  DefinedFlag,
  DefinedProject,
  DefinedSegment,
  DefinedStrategy,
  DependencyInput,
  StrategyVariant,
  VariantInput,
} from '@flags/core';
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

/** Converts a state export of Unleash 4.x, or the export of one environment of later versions. */
export function importUnleash(document: unknown, target: ImportTarget): Imported {
  const state = membersOf(document);
  const report = new Report();
  const segments = listOf(state.segments).flatMap((segment) => toSegment(segment, report));
  // Strategies name segments, so that a segment of the store serves if the export has no constraints.
  const known = new Map(listOf(state.segments).map(({ id, name }) => [Number(id), `${name}`]));
  const environmentsOf = createEnvironments(state, { target, report, known });
  const tags = labelsByFlag(state, report);
  const flags = listOf(state.features).map((feature): DefinedFlag => {
    const original = `${feature.name}`;
    const name = toName(original, report);
    const environments = environmentsOf(original, feature);
    return {
      name,
      ...toMetadata(feature),
      labels: tags.get(original) ?? [],
      variants: environments.variants,
      dependencies: dependenciesOf(state, original, feature),
      environments: environments.configured,
    };
  });
  for (const part of ['contextFields', 'strategies', 'featureLinks', 'releasePlans']) {
    const { length } = listOf(state[part]);
    if (length > 0) report.add(`${length} ${part} have no equivalent, and are left out.`);
  }
  return { definitions: toDefinitions({ projects: toProjects(state), segments, flags }), report: report.sentences };
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
  const named = new Set(listOf(state.features).flatMap(({ project }) => textOf(project) ?? []));
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
  if (!holds) report.add(`The segment ${name} has a constraint without values, which never holds.`);
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

/** A constraint that no context fulfills. */
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

function dependenciesOf(state: Members, name: string, feature: Members): readonly DependencyInput[] {
  const own = listOf(state.dependencies).find((one) => one.feature === name);
  return listOf(own?.dependencies ?? feature.dependencies).map(({ feature: flag, enabled, variants }) => ({
    flag: `${flag}`,
    enabled: enabled !== false,
    variants: enabled === false ? [] : textsOf(variants),
  }));
}

interface Surroundings {
  readonly target: ImportTarget;
  readonly report: Report;
  /** The names of the segments in the document. */
  readonly known: ReadonlyMap<number, string>;
}

interface Configured {
  readonly configured: Readonly<Record<string, DefinedEnvironment>>;
  readonly variants: readonly VariantInput[];
}

/** Returns a function that configures the environments of a flag. */
function createEnvironments(state: Members, { target, report, known }: Surroundings) {
  const strategies = groupBy(listOf(state.featureStrategies), ({ featureName }) => `${featureName}`);
  const switches = groupBy(listOf(state.featureEnvironments), ({ featureName }) => `${featureName}`);
  const links = groupBy(listOf(state.featureStrategySegments), ({ featureStrategyId }) => `${featureStrategyId}`);

  function toStrategy(flag: string, strategy: Members, variants: readonly VariantInput[]): DefinedStrategy {
    const name = textOf(strategy.strategyName) ?? `${strategy.name}`;
    if (!target.strategies.includes(name)) {
      report.add(`The strategy ${name} is a custom one: give its code to the option \`strategies\`.`);
    }
    const { constraints, holds } = toConstraints(strategy.constraints);
    if (!holds) report.add(`${flag}: a strategy with a constraint without values never holds, and is disabled.`);
    const given = Array.isArray(strategy.segments) ? strategy.segments : (links.get(`${strategy.id}`) ?? []);
    const ids = given.map((one: unknown) => (typeof one === 'number' ? one : Number(membersOf(one).segmentId)));
    const segments = [...new Set(ids.flatMap((id) => known.get(id) ?? []))];
    const isMissing = ids.some((id) => !known.has(id));
    if (isMissing) report.add(`${flag}: a segment is missing in the export, so its strategy is disabled.`);
    const own = listOf(strategy.variants).map(toStrategyVariant);
    const shown = own.length > 0 ? own : variants.map((variant) => toStrategyVariant({ ...variant }));
    const [id, title] = [textOf(strategy.id), textOf(strategy.title)];
    const isDisabled = strategy.disabled === true || !holds || isMissing;
    return {
      ...(id !== undefined && { id }),
      name,
      ...(title && { title }),
      parameters: toParameters(strategy.parameters),
      constraints: holds ? constraints : [],
      ...(segments.length > 0 && { segments }),
      ...(shown.length > 0 && { variants: shown }),
      ...(typeof strategy.sortOrder === 'number' && { sortOrder: strategy.sortOrder }),
      ...(isDisabled && { disabled: true }),
    };
  }

  return (flag: string, feature: Members): Configured => {
    const nested = listOf(feature.environments);
    const own = [...(switches.get(flag) ?? []), ...nested];
    const lists = own.map(({ variants }) => toVariants(listOf(variants), flag, report));
    const texts = new Set(lists.map((list) => JSON.stringify(list)));
    // Variants per environment fit the flag if they are the same in each.
    const shared = listOf(feature.variants);
    const isShared = texts.size <= 1 || shared.length > 0;
    const configured: Record<string, DefinedEnvironment> = {};
    for (const [index, one] of own.entries()) {
      const from = textOf(one.environment) ?? `${one.name}`;
      const environment = target.toEnvironment(from);
      if (environment === undefined) {
        report.add(`The environment ${from} is not configured here, and is left out: --map-environment ${from}=NAME.`);
        continue;
      }
      const all = strategies.get(flag) ?? [];
      const stored = all.filter((strategy) => strategy.environment === undefined || strategy.environment === from);
      const found = [...stored, ...listOf(one.strategies)];
      const variants = isShared ? [] : (lists[index] ?? []);
      if (variants.some(({ overrides = [] }) => overrides.length > 0)) {
        report.add(`${flag}: overrides of variants that differ between environments are left out.`);
      }
      const isOn = one.enabled === true;
      if (isOn && found.length === 0)
        report.add(`${flag}: is on in ${from} without a strategy, so it gets the strategy default.`);
      const wanted = isOn && found.length === 0 ? [{ name: 'default' }] : found;
      configured[environment] = {
        enabled: isOn,
        strategies: wanted.map((strategy) => toStrategy(flag, strategy, variants)),
      };
    }
    const variants = shared.length > 0 ? toVariants(shared, flag, report) : isShared ? (lists[0] ?? []) : [];
    return { configured, variants };
  };
}

function toParameters(parameters: unknown): Readonly<Record<string, string>> {
  const entries = Object.entries(membersOf(parameters)).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(entries.map(([name, value]) => [name, typeof value === 'string' ? value : `${value}`]));
}

/** At least one variant has to be variable. With the rest of the weight, a fixed one gets the same as before. */
function toVariants(variants: readonly Members[], flag: string, report: Report): readonly VariantInput[] {
  const converted = variants.map((variant): VariantInput => {
    const overrides = listOf(variant.overrides).map(({ contextName, values }) => {
      return { contextName: `${contextName}`, values: textsOf(values) };
    });
    return { ...toStrategyVariant(variant), overrides };
  });
  const last = converted.at(-1);
  if (last && converted.every(({ weightType }) => weightType === 'fix')) {
    report.add(
      `${flag}: the variant ${last.name} gets the rest of the weight, because one variant has to be variable.`,
    );
    return converted.with(-1, { ...last, weightType: 'variable' });
  }
  return converted;
}

function toStrategyVariant(variant: Members): StrategyVariant {
  const payload = toPayload(variant.payload);
  return {
    name: `${variant.name}`,
    weightType: variant.weightType === 'fix' ? 'fix' : 'variable',
    weight: Number(variant.weight ?? 0),
    stickiness: textOf(variant.stickiness) ?? 'default',
    ...(payload && { payload }),
  };
}

function toPayload(payload: unknown): VariantInput['payload'] {
  const { type, value } = membersOf(payload);
  if (type !== 'string' && type !== 'json' && type !== 'csv' && type !== 'number') return undefined;
  return { type, value: `${value}` };
}

function groupBy(items: readonly Members[], keyOf: (item: Members) => string): ReadonlyMap<string, Members[]> {
  const groups = new Map<string, Members[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}
