import { once } from 'node:events';
import { InMemStorageProvider, Unleash } from 'unleash-client';
import { at, type Engine, randomNames, type User, users } from '../scenarios.js';
import { features } from '../unleash-document.js';

const contextOf = ({ id, country, age, version }: User) => ({
  userId: id,
  properties: { country, age: String(age), version },
});
const contexts = users.map(contextOf);

/** The Node SDK of Unleash, without its metrics, from a bootstrap: there is no server. */
export async function unleashClientEngine(): Promise<Engine> {
  const unleash = new Unleash({
    appName: 'benchmark',
    url: 'http://127.0.0.1:9/',
    refreshInterval: 0,
    disableMetrics: true,
    skipInstanceCountWarning: true,
    storageProvider: new InMemStorageProvider(),
    bootstrap: { data: features as never },
  });
  unleash.on('error', () => undefined);
  unleash.on('warn', () => undefined);
  await once(unleash, 'ready');
  return {
    name: 'unleash-client',
    dependency: 'unleash-client',
    calls: {
      'on for all': (call) => unleash.isEnabled('on-for-all', at(contexts, call)),
      '50 % rollout': (call) => unleash.isEnabled('half', at(contexts, call)),
      '50 % rollout, with a fresh context': (call) => unleash.isEnabled('half', contextOf(at(users, call))),
      'two constraints and rollout': (call) => unleash.isEnabled('constrained', at(contexts, call)),
      'at least a version': (call) => unleash.isEnabled('versioned', at(contexts, call)),
      variant: (call) => unleash.getVariant('varied', at(contexts, call)),
      '50 % rollout, a random one of 1,000 flags': (call) =>
        unleash.isEnabled(at(randomNames, call), at(contexts, call)),
      'list of 10,000 ids': (call) => unleash.isEnabled('listed', at(contexts, call)),
    },
    close: () => unleash.destroy(),
  };
}
