import type { Flags } from '../api/engine.js';
import type { EvaluationOperations } from '../api/evaluation.js';
import type { Engine } from '../engine/engine.js';
import type { Lifetime } from '../engine/lifetime.js';
import { cloneFlagOperations } from './clone-flag.js';
import { dependencyOperations } from './dependencies.js';
import { evaluationOperations } from './evaluation.js';
import { eventOperations } from './events.js';
import { flagLifecycleOperations } from './flag-lifecycle.js';
import { flagListOperations } from './flag-lists.js';
import { flagPageOperations } from './flag-pages.js';
import { flagOperations } from './flags.js';
import { memberOperations } from './members.js';
import { metricsOperations } from './metrics.js';
import { projectOperations } from './projects.js';
import { segmentOperations } from './segments.js';
import { stampOperations } from './stamp.js';
import { strategyOperations } from './strategies.js';
import { tokenOperations } from './tokens.js';
import { variantOperations } from './variants.js';

export type Operations = Omit<Flags, 'settings' | 'as' | 'closing' | 'close'>;
type AsyncOperations = Omit<Operations, 'subscribe' | keyof EvaluationOperations>;

/** All operations, each refused once the engine is closed and waited for before it closes. */
export function createOperations(engine: Engine, lifetime: Lifetime): Operations {
  const { subscribe, ...events } = eventOperations(engine);
  const operations: AsyncOperations = {
    ...projectOperations(engine),
    ...flagOperations(engine),
    ...flagListOperations(engine),
    ...flagPageOperations(engine),
    ...cloneFlagOperations(engine),
    ...flagLifecycleOperations(engine),
    ...strategyOperations(engine),
    ...variantOperations(engine),
    ...segmentOperations(engine),
    ...dependencyOperations(engine),
    ...memberOperations(engine),
    ...metricsOperations(engine),
    ...tokenOperations(engine),
    ...stampOperations(engine),
    ...events,
  };
  return {
    ...trackAll(operations, lifetime),
    ...evaluationOperations(engine),
    subscribe: (listener, options) => {
      lifetime.requireOpen();
      return subscribe(listener, options);
    },
  };
}

type Operation = (...input: never[]) => Promise<unknown>;

function trackAll(operations: AsyncOperations, lifetime: Lifetime): AsyncOperations {
  const tracked = Object.entries<Operation>(operations).map(([name, operation]) => {
    return [name, (...input: never[]) => lifetime.track(() => operation(...input))] as const;
  });
  return Object.fromEntries(tracked) as unknown as AsyncOperations;
}
