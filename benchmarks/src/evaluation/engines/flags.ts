import { createFlags, type Flags, memoryStorage, type StrategyInput } from '@flags/core';
import { at, type Engine, manyNames, users } from '../scenarios.js';
import { features } from '../unleash-document.js';

const contexts = users.map(({ id, country, age }) => ({ userId: id, properties: { country, age: String(age) } }));

/** This library as a service uses it, including the counting of usage. */
export async function flagsEngine(): Promise<Engine> {
  const flags = await createFlags({ storage: memoryStorage(), pollInterval: 0, usage: { interval: 0 } });
  await Promise.all(features.map((feature) => create(flags, feature)));
  return {
    name: '@flags/core',
    dependency: '@flags/core',
    calls: {
      'on for all': (call) => flags.isEnabled('on-for-all', at(contexts, call)),
      '50 % rollout': (call) => flags.isEnabled('half', at(contexts, call)),
      'two constraints and rollout': (call) => flags.isEnabled('constrained', at(contexts, call)),
      variant: (call) => flags.getVariant('varied', at(contexts, call)),
      '50 % rollout among 1,000 flags': (call) => flags.isEnabled(at(manyNames, call), at(contexts, call)),
      'list of 10,000 ids': (call) => flags.isEnabled('listed', at(contexts, call)),
    },
    close: () => void flags.close(),
  };
}

async function create(flags: Flags, { name, strategies, variants }: (typeof features)[number]): Promise<void> {
  const production = { project: 'default', flag: name, environment: 'production' };
  await flags.createFlag({ project: 'default' }, { name });
  for (const strategy of strategies) await flags.addStrategy(production, strategy as StrategyInput);
  await flags.setVariants(production, variants);
  await flags.enable(production);
}
