import { AsyncLocalStorage } from 'node:async_hooks';
import type { Snapshot } from '../evaluation/snapshot.js';
import type { Replica } from '../replica/replica.js';
import type { TestValues } from './test-flags.types.js';
import { forceValue } from './test-values.js';

/** The overrides of the running asynchronous context. */
export const running = new AsyncLocalStorage<ReadonlyMap<object, TestValues>>();

/** Values of flags that hold within functions. */
export interface Overrides {
  readonly run: <Result>(values: TestValues, body: () => Result) => Result;
  /** Returns the snapshot with the overridden flags. */
  readonly apply: (snapshot: Snapshot) => Snapshot;
}

export function createOverrides(): Overrides {
  const key = {};
  const compiled = new WeakMap<Snapshot, WeakMap<TestValues, Snapshot>>();

  function compile(snapshot: Snapshot, values: TestValues): Snapshot {
    const flags = Object.entries(values).flatMap(([name, value]) => {
      const definition = snapshot.definition(name);
      return definition ? [forceValue(definition, value)] : [];
    });
    return snapshot.with({ flags });
  }

  return {
    run(values, body) {
      const outer = running.getStore();
      return running.run(new Map([...(outer ?? []), [key, { ...outer?.get(key), ...values }]]), body);
    },
    apply(snapshot) {
      const values = running.getStore()?.get(key);
      if (values === undefined) return snapshot;
      const known = compiled.get(snapshot) ?? new WeakMap<TestValues, Snapshot>();
      compiled.set(snapshot, known);
      const forced = known.get(values) ?? compile(snapshot, values);
      known.set(values, forced);
      return forced;
    },
  };
}

/** Returns a replica whose snapshots have the overridden flags. */
export function withOverrides(replica: Replica, { apply }: Overrides): Replica {
  const { standard, snapshotOf } = replica.state;
  const state = {
    ...replica.state,
    standard: {
      ...standard,
      get snapshot() {
        return apply(standard.snapshot);
      },
    },
    snapshotOf: (environment: string) => {
      const snapshot = snapshotOf(environment);
      return snapshot && apply(snapshot);
    },
  };
  return { ...replica, state };
}
