import { COUNTRIES, listedIds, manyNames, OLDEST_VERSION } from './scenarios.js';

const rollout = (groupId: string) => ({
  name: 'flexibleRollout',
  parameters: { rollout: '50', stickiness: 'default', groupId },
  constraints: [],
});

const constraints = [
  { contextName: 'country', operator: 'IN', values: [...COUNTRIES], inverted: false },
  { contextName: 'age', operator: 'NUM_GTE', value: '18', values: [], inverted: false },
];

const recent = {
  contextName: 'version',
  operator: 'SEMVER_GTE',
  value: OLDEST_VERSION.join('.'),
  values: [],
  inverted: false,
};

const variants = ['red', 'green', 'blue'].map((name, at) => ({
  name,
  weight: at === 0 ? 334 : 333,
  weightType: 'variable' as const,
  stickiness: 'default',
  overrides: [],
  payload: { type: 'string' as const, value: name },
}));

const common = {
  enabled: true,
  type: 'release',
  project: 'default',
  stale: false,
  impressionData: false,
  variants: [],
};
const on = { name: 'default', parameters: {}, constraints: [] };

/** The scenarios as the flags that both this library and unleash-client read. */
export const features = [
  { ...common, name: 'on-for-all', strategies: [on] },
  { ...common, name: 'half', strategies: [rollout('half')] },
  { ...common, name: 'constrained', strategies: [{ ...rollout('constrained'), constraints }] },
  { ...common, name: 'versioned', strategies: [{ ...on, constraints: [recent] }] },
  { ...common, name: 'varied', strategies: [on], variants },
  {
    ...common,
    name: 'listed',
    strategies: [{ ...on, name: 'userWithId', parameters: { userIds: listedIds.join(',') } }],
  },
  ...manyNames.map((name) => ({ ...common, name, strategies: [rollout(name)] })),
];
