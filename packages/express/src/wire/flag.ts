import type { ArchivedFlag, Flag, FlagDetail, FlagEnvironment, FlagSummary } from '@flags/core';
import type { JsonChunks } from '../chunks.js';
import { jsonObject } from '../json-chunks.js';
import { dependencyToWire } from './dependency.js';
import { strategyToWire } from './strategy.js';
import { variantToWire } from './variant.js';

export function flagToWire(flag: Omit<Flag, 'revision'>) {
  return {
    name: flag.name,
    project: flag.project,
    description: flag.description,
    type: flag.type,
    stale: flag.stale,
    impressionData: flag.impressionData,
    archived: flag.archived,
    createdAt: flag.createdAt,
    lastSeenAt: flag.lastSeenAt,
    variants: flag.variants.length === 0 ? null : flag.variants.map(variantToWire),
  };
}

/** `dependencies` and `children` only come when there are some. */
export function flagDetailToWire(flag: FlagDetail) {
  const { environments, dependencies, children } = flag;
  return {
    ...flagToWire(flag),
    environments: environments.map(environmentToWire),
    ...(dependencies.length > 0 && { dependencies: dependencies.map(dependencyToWire) }),
    ...(children.length > 0 && { children }),
  };
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

function environmentToWire({ name, enabled, strategies }: FlagEnvironment) {
  return { name, enabled, strategies: strategies.map(strategyToWire) };
}
