import { once } from 'node:events';
import { InMemStorageProvider, Unleash } from 'unleash-client';
import { at, type Engine, manyNames, users } from '../scenarios.js';
import { features } from '../unleash-document.js';

const contexts = users.map(({ id, country, age }) => ({ userId: id, properties: { country, age: String(age) } }));

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
      'two constraints and rollout': (call) => unleash.isEnabled('constrained', at(contexts, call)),
      variant: (call) => unleash.getVariant('varied', at(contexts, call)),
      '50 % rollout among 1,000 flags': (call) => unleash.isEnabled(at(manyNames, call), at(contexts, call)),
      'list of 10,000 ids': (call) => unleash.isEnabled('listed', at(contexts, call)),
    },
    close: () => unleash.destroy(),
  };
}
