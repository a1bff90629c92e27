import type { FlagsOptions } from '../../src/index.js';

/** Without timers and warnings: all effects come from the calls of the test. */
export const SILENT: Pick<FlagsOptions, 'pollInterval' | 'usageInterval' | 'onProblem'> = {
  pollInterval: 0,
  usageInterval: 0,
  onProblem: () => undefined,
};
