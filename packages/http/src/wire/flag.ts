import type {
  ArchivedFlag,
  Constraint,
  Flag,
  FlagDetail,
  FlagEnvironment,
  FlagSummary,
  Strategy,
  Variant,
} from '@flags/core';
import { type JsonChunks, jsonObject } from '../json-chunks.js';
import { dependencyToWire } from '../routes/dependencies.js';

/** Undefined members do not appear in the JSON. */
export function strategyToWire(strategy: Strategy) {
  const { id, name, constraints, parameters, title, disabled, sortOrder, segments, variants } = strategy;
  return {
    id,
    name,
    constraints: constraints.map(constraintToWire),
    parameters,
    title,
    disabled,
    sortOrder,
    segments,
    variants,
  };
}

/** Clients expect `values` in every constraint, even for operators with a single value. */
export function constraintToWire<T extends Pick<Constraint, 'values'>>(constraint: T) {
  return { ...constraint, values: constraint.values ?? [] };
}

/** An undefined payload does not appear in the JSON. */
function variantToWire({ name, weightType, weight, stickiness, payload, overrides }: Variant) {
  return { name, weightType, weight, stickiness, payload, overrides };
}

export function variantListToWire(variants: readonly Variant[]) {
  return { version: '1', variants: variants.map(variantToWire) };
}

/** Converts the reply to a change of variants: the computed weights. */
export function variantWeightsToWire(variants: readonly Variant[]) {
  return { version: '1', variants: variants.map(({ name, weightType, weight }) => ({ name, weightType, weight })) };
}

/** Events have no `lastSeenAt`, because the log has no metrics. It is null then. */
export function flagToWire(flag: Omit<Flag, 'revision'> & Partial<Pick<FlagDetail, 'lastSeenAt'>>) {
  return {
    name: flag.name,
    project: flag.project,
    description: flag.description,
    type: flag.type,
    stale: flag.stale,
    impressionData: flag.impressionData,
    archived: flag.archived,
    createdAt: flag.createdAt,
    lastSeenAt: flag.lastSeenAt ?? null,
    variants: flag.variants.length === 0 ? null : flag.variants.map(variantToWire),
    labels: flag.labels,
    owner: flag.owner,
  };
}

/** Includes `dependencies` and `children` only when the flag has some. */
export function flagDetailToWire(flag: FlagDetail) {
  const { environments, dependencies, children } = flag;
  return Object.assign(flagToWire(flag), {
    environments: environments.map(environmentToWire),
    dependencies: dependencies.length > 0 ? dependencies.map(dependencyToWire) : undefined,
    children: children.length > 0 ? children : undefined,
  });
}

export function flagSummaryToWire({ name, type, stale, createdAt, lastSeenAt, environments }: FlagSummary) {
  return {
    name,
    type,
    stale,
    createdAt,
    lastSeenAt,
    environments: environments.map(({ name, displayName, enabled }) => ({ name, displayName, enabled })),
  };
}

export function flagListToWire(features: JsonChunks) {
  return jsonObject({ version: 1, features });
}

export function archivedFlagToWire(flag: ArchivedFlag) {
  const { project, archived, archivedAt, description, impressionData } = flag;
  return { ...flagSummaryToWire(flag), project, archived, archivedAt, description, impressionData };
}

/** Clients of Unleash 4.x expect the name of the flag as `name`. */
export function flagInEnvironmentToWire(name: string, { name: environment, ...configuration }: FlagEnvironment) {
  const { enabled, strategies } = configuration;
  return { name, environment, enabled, strategies: strategies.map(strategyToWire) };
}

function environmentToWire({ name, enabled, strategies }: FlagEnvironment) {
  return { name, enabled, strategies: strategies.map(strategyToWire) };
}
