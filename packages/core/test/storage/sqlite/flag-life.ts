import type { Flags } from '../../../src/index.js';

const DEFAULT = { project: 'default' };

/** The life of a flag, by the event of each change. */
export const LIFE: readonly (readonly [event: string, change: (flags: Flags, flag: string) => Promise<unknown>])[] = [
  ['flag-created', (flags, name) => flags.createFlag(DEFAULT, { name })],
  ['strategy-added', (flags, flag) => flags.addStrategy(placeOf(flag), { name: 'default' })],
  ['environment-enabled', (flags, flag) => flags.enable(placeOf(flag))],
  ['variants-updated', (flags, flag) => flags.setVariants({ ...DEFAULT, flag }, [{ name: 'blue' }])],
  ['environment-disabled', (flags, flag) => flags.disable(placeOf(flag))],
  ['flag-archived', (flags, flag) => flags.archiveFlag({ ...DEFAULT, flag })],
];

function placeOf(flag: string) {
  return { ...DEFAULT, flag, environment: 'production' };
}
