import { compileSnapshot } from '../../../packages/core/dist/evaluation/compile-snapshot.js';
import { at, type Engine, manyNames, users } from '../scenarios.js';
import { features } from '../unleash-document.js';

const contexts = users.map(({ id, country, age }) => ({ userId: id, properties: { country, age: String(age) } }));

/** This library, usage counting included. */
export function flagsEngine(): Engine {
  const snapshot = compileSnapshot({ flags: features, now: Date.now });
  return {
    name: '@flags/core',
    calls: {
      'on for all': (call) => snapshot.isEnabled('on-for-all', at(contexts, call)),
      '50 % rollout': (call) => snapshot.isEnabled('half', at(contexts, call)),
      'two constraints and rollout': (call) => snapshot.isEnabled('constrained', at(contexts, call)),
      variant: (call) => snapshot.getVariant('varied', at(contexts, call)),
      'among 1,000 flags': (call) => snapshot.isEnabled(at(manyNames, call), at(contexts, call)),
      '10,000 ids': (call) => snapshot.isEnabled('listed', at(contexts, call)),
    },
    close: () => undefined,
  };
}
