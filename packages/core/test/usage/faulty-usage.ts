import type { FlagsStorage } from '../../src/storage/port.js';
import type { UsageStorage } from '../../src/storage/usage/port.js';
import { type FaultyPort, faultyPort } from '../../src/testing/injected-faults.js';

/** Usage with injectable faults. */
export type FaultyUsage = FaultyPort<UsageStorage>;

export function faultyUsage(usage: UsageStorage): FaultyUsage {
  return faultyPort<UsageStorage>(usage, {
    record: true,
    sum: true,
    lastSeen: true,
    applications: true,
    forget: true,
    prune: true,
    close: true,
  });
}

/** Gives a storage other usage. It then has no data version, which would not cover that usage. */
export function withUsage({ dataVersion: _, ...storage }: FlagsStorage, usage: UsageStorage): FlagsStorage {
  return { ...storage, usage };
}
