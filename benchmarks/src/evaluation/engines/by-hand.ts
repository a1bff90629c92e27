import { isOn, variantOf } from '../by-hand.js';
import { at, type Engine, randomNames, type User, users } from '../scenarios.js';

const copyOf = ({ id, country, age, version }: User): User => ({ id, country, age, version });

/** The hand-written floor. */
export function byHandEngine(): Engine {
  return {
    name: 'by hand',
    calls: {
      'on for all': (call) => isOn('on-for-all', at(users, call)),
      '50 % rollout': (call) => isOn('half', at(users, call)),
      '50 % rollout, with a fresh context': (call) => isOn('half', copyOf(at(users, call))),
      'two constraints and rollout': (call) => isOn('constrained', at(users, call)),
      'at least a version': (call) => isOn('versioned', at(users, call)),
      variant: (call) => variantOf('varied', at(users, call)),
      '50 % rollout, a random one of 1,000 flags': (call) => isOn(at(randomNames, call), at(users, call)),
      'list of 10,000 ids': (call) => isOn('listed', at(users, call)),
    },
    close: () => undefined,
  };
}
