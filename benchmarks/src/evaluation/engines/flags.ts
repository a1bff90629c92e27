import { type Flags, memoryStorage, openFlags, type StrategyInput } from '@flags/core';
import { at, type Engine, randomNames, type User, users } from '../scenarios.js';
import { features } from '../unleash-document.js';

const contextOf = ({ id, country, age, version }: User) => ({
  userId: id,
  properties: { country, age: String(age), version },
});
const contexts = users.map(contextOf);

/** This library as a service uses it, including the counting of usage. */
export async function flagsEngine(): Promise<Engine> {
  const flags = await openFlags({ storage: memoryStorage(), pollInterval: 0, usage: { interval: 0 } });
  await Promise.all(features.map((feature) => create(flags, feature)));
  return {
    name: '@flags/core',
    dependency: '@flags/core',
    calls: {
      'on for all': (call) => flags.isEnabled('on-for-all', at(contexts, call)),
      '50 % rollout': (call) => flags.isEnabled('half', at(contexts, call)),
      '50 % rollout, with a fresh context': (call) => flags.isEnabled('half', contextOf(at(users, call))),
      'two constraints and rollout': (call) => flags.isEnabled('constrained', at(contexts, call)),
      'at least a version': (call) => flags.isEnabled('versioned', at(contexts, call)),
      variant: (call) => flags.getVariant('varied', at(contexts, call)),
      '50 % rollout, a random one of 1,000 flags': (call) => flags.isEnabled(at(randomNames, call), at(contexts, call)),
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
