import {
  type EnvironmentRef,
  type FlagRef,
  FlagsError,
  type ProjectRef,
  type SegmentRef,
  type StrategyRef,
} from '@flags/core';
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

/** A flag that the path names alone, in the project that permission was asked for: it may have moved there meanwhile. */
export function locatedFlag({ featureName }: Params<'featureName'>, project: string | null): FlagRef {
  if (project !== null) return { project, flag: featureName };
  throw new FlagsError('flag_not_found', `There is no flag ${featureName}; create it, or list the flags.`);
}
