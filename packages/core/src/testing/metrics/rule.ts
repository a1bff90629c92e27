import type { MetricsStorage } from '../../metrics/port.js';

/**
 * Declares one rule of the port and how it is proven on an empty storage. `again` opens another instance on the same
 * data; where there can be none, as with memory, it gives the same one.
 */
export type MetricsRule = (
  statement: string,
  body: (metrics: MetricsStorage, again: () => Promise<MetricsStorage>) => Promise<void>,
) => void;
