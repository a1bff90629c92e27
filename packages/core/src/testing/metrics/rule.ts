import type { Awaitable } from '../../awaitable.js';
import type { MetricsStorage } from '../../metrics/port.js';

/**
 * Declares one rule of the port and how it is proven on an empty storage. `again` opens another instance on the same
 * data; where there can be none, as with memory, it gives the same one. `refuse` is undefined where nothing can fail.
 */
export type MetricsRule = (
  statement: string,
  body: (
    metrics: MetricsStorage,
    again: () => Promise<MetricsStorage>,
    refuse: ((flag: string) => Awaitable<void>) | undefined,
  ) => Promise<void>,
) => void;
