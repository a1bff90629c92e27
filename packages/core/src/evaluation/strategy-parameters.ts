/** A parameter of a strategy, for forms. */
export interface StrategyParameter {
  readonly name: string;
  /** `percentage`: 0–100. `list`: texts, separated by commas. */
  readonly type: 'percentage' | 'list' | 'string';
  readonly description: string;
}

/** A strategy that the library implements. */
export interface BuiltInStrategy {
  readonly name: string;
  readonly description: string;
  readonly parameters: readonly StrategyParameter[];
}

const groupId: StrategyParameter = {
  name: 'groupId',
  type: 'string',
  description: 'Flags with the same group put the same users into the same buckets.',
};

function percentage(name: string): StrategyParameter {
  return { name, type: 'percentage', description: 'The share of contexts that the flag is on for.' };
}

function list(name: string, description: string): StrategyParameter {
  return { name, type: 'list', description };
}

/** All strategies that the library implements, with their parameters. */
export const BUILT_IN_STRATEGIES: readonly BuiltInStrategy[] = [
  { name: 'default', description: 'On for everybody.', parameters: [] },
  {
    name: 'flexibleRollout',
    description: 'On for a share of users, sessions or other ids. The same id always gets the same answer.',
    parameters: [
      percentage('rollout'),
      {
        name: 'stickiness',
        type: 'string',
        description: 'The context field that is hashed: default (user, else session), random, or any field.',
      },
      groupId,
    ],
  },
  {
    name: 'userWithId',
    description: 'On for these users.',
    parameters: [list('userIds', 'Ids of users.')],
  },
  {
    name: 'gradualRolloutUserId',
    description: 'On for a share of users.',
    parameters: [percentage('percentage'), groupId],
  },
  {
    name: 'gradualRolloutSessionId',
    description: 'On for a share of sessions.',
    parameters: [percentage('percentage'), groupId],
  },
  {
    name: 'gradualRolloutRandom',
    description: 'On for a share of evaluations, by chance.',
    parameters: [percentage('percentage')],
  },
  {
    name: 'remoteAddress',
    description: 'On for these addresses.',
    parameters: [list('IPs', 'IP addresses, and IPv4 networks such as 10.0.0.0/8.')],
  },
  {
    name: 'applicationHostname',
    description: 'On in processes on these hosts.',
    parameters: [list('hostNames', 'Names of hosts.')],
  },
];
