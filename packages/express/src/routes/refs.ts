import type { EnvironmentRef, FlagRef, ProjectRef, SegmentRef, StrategyRef } from '@flags/core';
import { invalidInput } from '../errors/invalid-input.js';
import { positiveInteger } from '../wire/positive-integer.js';

type Params<Name extends string> = Readonly<Record<Name, string>>;

export function projectRef(params: Params<'projectId'>): ProjectRef {
  return { project: params.projectId };
}

export function flagRef(params: Params<'projectId' | 'featureName'>): FlagRef {
  return { ...projectRef(params), flag: params.featureName };
}

export function environmentRef(params: Params<'projectId' | 'featureName' | 'environment'>): EnvironmentRef {
  return { ...flagRef(params), environment: params.environment };
}

export function strategyRef(params: Params<'projectId' | 'featureName' | 'environment' | 'strategyId'>): StrategyRef {
  return { ...environmentRef(params), strategy: params.strategyId };
}

export function segmentRef({ segmentId }: Params<'segmentId'>): SegmentRef {
  const segment = positiveInteger(segmentId);
  if (segment === undefined) throw invalidInput([{ message: 'must be a positive integer', path: '/segmentId' }]);
  return { segment };
}
