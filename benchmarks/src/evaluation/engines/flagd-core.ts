import { FlagdCore } from '@openfeature/flagd-core';
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

const contextOf = ({ id, country, age, version }: User) => ({ targetingKey: id, country, age, version });
const contexts = users.map(contextOf);

const bucketBy = { cat: [{ var: '$flagd.flagKey' }, { var: 'targetingKey' }] };
const half = { fractional: [bucketBy, ['on', 50], ['off', 50]] };
const thirds = { fractional: [bucketBy, ['red', 334], ['green', 333], ['blue', 333]] };
const among = { and: [{ in: [{ var: 'country' }, COUNTRIES] }, { '>=': [{ var: 'age' }, 18] }] };

const onOff = (targeting: object) => ({
  state: 'ENABLED',
  variants: { on: true, off: false },
  defaultVariant: 'off',
  targeting,
});

const flags = {
  'on-for-all': { state: 'ENABLED', variants: { on: true, off: false }, defaultVariant: 'on' },
  half: onOff(half),
  constrained: onOff({ if: [among, half, 'off'] }),
  varied: {
    state: 'ENABLED',
    variants: { red: 'red', green: 'green', blue: 'blue' },
    defaultVariant: 'red',
    targeting: thirds,
  },
  versioned: onOff({ if: [{ sem_ver: [{ var: 'version' }, '>=', OLDEST_VERSION.join('.')] }, 'on', 'off'] }),
  listed: onOff({ if: [{ in: [{ var: 'targetingKey' }, listedIds] }, 'on', 'off'] }),
  ...Object.fromEntries(manyNames.map((name) => [name, onOff(half)])),
};

/** The evaluation of flagd, in process. */
export function flagdCoreEngine(): Engine {
  const core = new FlagdCore();
  core.setConfigurations(JSON.stringify({ flags }));
  const isOn = (name: string, call: number) => core.resolveBooleanEvaluation(name, false, at(contexts, call)).value;
  return {
    name: 'flagd-core',
    dependency: '@openfeature/flagd-core',
    calls: {
      'on for all': (call) => isOn('on-for-all', call),
      '50 % rollout': (call) => isOn('half', call),
      '50 % rollout, with a fresh context': (call) =>
        core.resolveBooleanEvaluation('half', false, contextOf(at(users, call))).value,
      'two constraints and rollout': (call) => isOn('constrained', call),
      'at least a version': (call) => isOn('versioned', call),
      variant: (call) => core.resolveStringEvaluation('varied', 'red', at(contexts, call)).value,
      '50 % rollout, a random one of 1,000 flags': (call) => isOn(at(randomNames, call), call),
      'list of 10,000 ids': (call) => isOn('listed', call),
    },
    close: () => undefined,
  };
}
