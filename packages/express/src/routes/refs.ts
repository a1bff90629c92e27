import type { EnvironmentRef, FlagRef, ProjectRef, StrategyRef } from '@flags/core';

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
