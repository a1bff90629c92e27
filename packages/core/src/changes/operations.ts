import { evaluationOperations } from '../evaluation/evaluation.operations.js';
import type { EvaluationOperations } from '../evaluation/evaluation.types.js';
import { eventOperations } from '../events/event.operations.js';
import { dependencyOperations } from '../flags/dependencies.operations.js';
import { cloneFlagOperations, flagLifecycleOperations, flagOperations } from '../flags/flag.operations.js';
import { flagListOperations, flagPageOperations } from '../flags/flag-lists.operations.js';
import { strategyOperations } from '../flags/strategies.operations.js';
import { variantOperations } from '../flags/variants.operations.js';
import type { Flags } from '../flags.js';
import { metricsOperations } from '../metrics/metrics.operations.js';
import { memberOperations } from '../projects/members.operations.js';
import { projectOperations } from '../projects/project.operations.js';
import { segmentOperations } from '../segments/segment.operations.js';
import { tokenOperations } from '../tokens/token.operations.js';
import type { Engine } from './engine.js';
import type { Lifetime } from './lifetime.js';

/** Tells whether what was read is still so. */
export function dataVersionOperations({ storage, metrics, now }: Engine): Pick<Flags, 'dataVersion'> {
  return {
    async dataVersion(subject = 'flags') {
      if (!storage.dataVersion || metrics !== storage.metrics) return undefined;
      const stored = await storage.dataVersion();
      return subject === 'flags' ? stored : `${stored} ${Math.floor(now().getTime() / 1000)}`;
    },
  };
}

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
    ...dataVersionOperations(engine),
    ...events,
  };
  return {
    ...trackAll(operations, lifetime),
    ...evaluationOperations(engine),
    subscribe: (listener, options) => {
      lifetime.assertOpen();
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
