import { GrowthBookClient } from '@growthbook/growthbook';
import {
  at,
  COUNTRIES,
  type Engine,
  listedIds,
  manyNames,
  OLDEST_VERSION,
  randomNames,
  type User,
  users,
} from '../scenarios.js';

const contextOf = (user: User) => ({ attributes: { ...user } });
const contexts = users.map(contextOf);

const half = { force: true, coverage: 0.5, hashAttribute: 'id' };
const condition = { country: { $in: [...COUNTRIES] }, age: { $gte: 18 } };

const features = {
  'on-for-all': { defaultValue: true },
  half: { defaultValue: false, rules: [half] },
  constrained: { defaultValue: false, rules: [{ ...half, condition }] },
  varied: {
    defaultValue: 'red',
    rules: [{ variations: ['red', 'green', 'blue'], weights: [0.334, 0.333, 0.333], hashAttribute: 'id' }],
  },
  versioned: {
    defaultValue: false,
    rules: [{ force: true, condition: { version: { $vgte: OLDEST_VERSION.join('.') } } }],
  },
  listed: { defaultValue: false, rules: [{ force: true, condition: { id: { $in: [...listedIds] } } }] },
  ...Object.fromEntries(manyNames.map((name) => [name, { defaultValue: false, rules: [half] }])),
};

/** The multi-user client of GrowthBook, from a payload. */
export function growthBookEngine(): Engine {
  const client = new GrowthBookClient().initSync({ payload: { features } });
  return {
    name: 'GrowthBook',
    dependency: '@growthbook/growthbook',
    calls: {
      'on for all': (call) => client.isOn('on-for-all', at(contexts, call)),
      '50 % rollout': (call) => client.isOn('half', at(contexts, call)),
      '50 % rollout, with a fresh context': (call) => client.isOn('half', contextOf(at(users, call))),
      'two constraints and rollout': (call) => client.isOn('constrained', at(contexts, call)),
      'at least a version': (call) => client.isOn('versioned', at(contexts, call)),
      variant: (call) => client.getFeatureValue('varied', 'red', at(contexts, call)),
      '50 % rollout, a random one of 1,000 flags': (call) => client.isOn(at(randomNames, call), at(contexts, call)),
      'list of 10,000 ids': (call) => client.isOn('listed', at(contexts, call)),
    },
    close: () => client.destroy(),
  };
}
