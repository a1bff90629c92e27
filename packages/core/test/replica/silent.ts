import type { FlagsOptions } from '../../src/index.js';

/** No timer runs, and nothing is warned of: what a test sees comes from its own calls alone. */
export const SILENT: Pick<FlagsOptions, 'pollInterval' | 'usageInterval' | 'onProblem'> = {
  pollInterval: 0,
  usageInterval: 0,
  onProblem: () => undefined,
};
