interface Strategy {
  readonly name: string;
  readonly parameters: object;
  readonly constraints: readonly { readonly contextName: string; readonly operator: string; readonly values: object }[];
}

interface Flag {
  readonly name: string;
  readonly description: string;
  readonly enabled: boolean;
  readonly lastSeenAt: string | null;
  readonly strategies: readonly Strategy[];
  readonly environments: readonly Environment[];
}

interface Environment {
  readonly name: string;
  readonly enabled: boolean;
  readonly strategies: readonly Strategy[];
}

/** What SDKs evaluate. */
export function clientFeatures(body: unknown): unknown {
  const flags = flagsOf(body).map(({ name, enabled, strategies }) => ({
    name,
    enabled,
    strategies: strategies.map(strategyFacts),
  }));
  return byName(flags);
}

export function overview(body: unknown): unknown {
  return byName(flagsOf(body).map(({ name, environments }) => ({ name, states: states(environments) })));
}

export function projects(body: unknown): unknown {
  const { projects } = body as { projects: readonly { readonly id: string; readonly featureCount: number }[] };
  return projects.map(({ id, featureCount }) => ({ id, featureCount }));
}

export function flagFacts(body: unknown): unknown {
  const { name, description, environments } = body as Flag;
  const strategies = environments.map((environment) => environment.strategies.map(strategyFacts));
  return { name, description, states: states(environments), strategies };
}

export function switchedOn(body: unknown): unknown {
  return (body as Flag).environments.every(({ enabled }) => enabled) || undefined;
}

export function strategyCount(body: unknown): unknown {
  return (body as Flag).environments.map(({ strategies }) => strategies.length);
}

export function wasSeen(body: unknown): unknown {
  return (body as Flag).lastSeenAt !== null || undefined;
}

function flagsOf(body: unknown): readonly Flag[] {
  return (body as { features: readonly Flag[] }).features;
}

function states(environments: readonly Environment[]): unknown {
  return environments.map(({ name, enabled }) => ({ name, enabled }));
}

function strategyFacts({ name, parameters, constraints }: Strategy): unknown {
  const conditions = constraints.map(({ contextName, operator, values }) => ({ contextName, operator, values }));
  return { name, parameters, conditions };
}

function byName<T extends { readonly name: string }>(flags: readonly T[]): readonly T[] {
  return [...flags].sort((one, other) => (one.name < other.name ? -1 : 1));
}
