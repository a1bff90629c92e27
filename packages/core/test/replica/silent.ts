import type { FlagsOptions } from '../../src/index.js';

/** Without timers and warnings: all effects come from the calls of the test. */
export const SILENT: Pick<FlagsOptions, 'pollInterval' | 'usage' | 'onProblem' | 'due'> = {
  pollInterval: 0,
  usage: { interval: 0 },
  due: { run: 'elsewhere' },
  onProblem: () => undefined,
};
