import { setImmediate as nextTurn } from 'node:timers/promises';
import type { UsageStorage } from '../../src/storage/usage/port.js';

type Retention = Parameters<UsageStorage['prune']>[0];

/** Usage that remembers how it was pruned. */
export function observedPruning(usage: UsageStorage) {
  const pruned: Retention[] = [];
  let pruning: unknown;
  const observed: UsageStorage = {
    ...usage,
    async prune(retention) {
      pruned.push(retention);
      const ended = usage.prune(retention);
      pruning = ended;
      return ended;
    },
  };
  /** Waits for the pruning that no reporter waits for. */
  async function ended(): Promise<void> {
    await Promise.resolve(pruning).catch(() => undefined);
    await nextTurn();
  }
  return { usage: observed, pruned, ended };
}
