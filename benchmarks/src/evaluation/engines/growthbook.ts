import { GrowthBookClient } from '@growthbook/growthbook';
import { at, type Engine, listedIds, manyNames, users } from '../scenarios.js';

const contexts = users.map((user) => ({ attributes: { ...user } }));

const half = { force: true, coverage: 0.5, hashAttribute: 'id' };
const condition = { country: { $in: ['no', 'se', 'dk'] }, age: { $gte: 18 } };

const features = {
  'on-for-all': { defaultValue: true },
  half: { defaultValue: false, rules: [half] },
  constrained: { defaultValue: false, rules: [{ ...half, condition }] },
  varied: {
    defaultValue: 'red',
    rules: [{ variations: ['red', 'green', 'blue'], weights: [0.334, 0.333, 0.333], hashAttribute: 'id' }],
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
      'two constraints and rollout': (call) => client.isOn('constrained', at(contexts, call)),
      variant: (call) => client.getFeatureValue('varied', 'red', at(contexts, call)),
      '50 % rollout among 1,000 flags': (call) => client.isOn(at(manyNames, call), at(contexts, call)),
      'list of 10,000 ids': (call) => client.isOn('listed', at(contexts, call)),
    },
    close: () => client.destroy(),
  };
}
