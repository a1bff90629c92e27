import type { Storage } from '../../storage/port.js';
import type { FaultInjector } from './fault.js';
import { faultyPort } from './faulty-port.js';

/** A storage that fails when it is told to. */
export type FaultyStorage = Storage & FaultInjector<Storage>;

/**
 * A storage that goes on working on the given one until faults are injected: any method, before or after it took effect,
 * at once, late or never. For tests of what your service does while its flags cannot be stored. Its `metrics`,
 * `watch` and `walBytes` are those of the given storage and do not fail; for metrics see {@link faultyMetrics}.
 *
 * @example
 * const storage = faultyStorage(memoryStorage());
 * const flags = await createFlags({ storage });
 *
 * storage.inject({ method: 'commit', error: new FlagsError('storage_busy', 'locked') });
 * await expect(api.post('/checkout/enable')).resolves.toMatchObject({ status: 503 });
 * storage.heal();
 *
 * // The change is made, and the answer lost.
 * storage.inject({ method: 'commit', point: 'after', nth: 1 });
 *
 * // Nothing is answered until it is released.
 * const hanging = storage.inject({ hang: true });
 * hanging.release();
 */
export function faultyStorage(storage: Storage): FaultyStorage {
  const faulty = faultyPort<Storage>(storage, {
    get: true,
    list: true,
    commit: true,
    events: true,
    stamp: true,
    close: true,
  });
  return {
    ...faulty,
    ...(storage.watch && { watch: storage.watch.bind(storage) }),
    ...(storage.walBytes && { walBytes: storage.walBytes.bind(storage) }),
    ...(storage.metrics && { metrics: storage.metrics }),
  };
}
