import type { Flags } from '@flags/core';

const TEXT = 'x'.repeat(500_000);
const PER_FLAG = 2;

/** Creates flags whose configuration in production has at least this many megabytes. Returns its size in bytes. */
export async function createLargeFlags(flags: Flags<string>, megabytes: number): Promise<number> {
  const texts = Array.from({ length: PER_FLAG }, (_, number) => [`text-${number}`, TEXT] as const);
  const parameters = Object.fromEntries(texts);
  const count = Math.ceil((megabytes * 1_000_000) / (PER_FLAG * TEXT.length));
  for (let number = 0; number < count; number++) {
    const place = { project: 'default', flag: `large-${number}`, environment: 'production' };
    await flags.createFlag(place, { name: place.flag });
    await flags.addStrategy(place, { name: 'default', parameters });
  }
  return count * PER_FLAG * TEXT.length;
}
