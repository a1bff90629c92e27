import type { Flags } from '@flags/core';

const MEGABYTE = 'x'.repeat(1_000_000);
const PER_FLAG = 1;

/** Creates flags whose configuration in production takes so many megabytes, at least; gives its size in bytes. */
export async function createLargeFlags(flags: Flags, megabytes: number): Promise<number> {
  const texts = Array.from({ length: PER_FLAG }, (_, number) => [`text-${number}`, MEGABYTE] as const);
  const parameters = Object.fromEntries(texts);
  const count = Math.ceil(megabytes / PER_FLAG);
  for (let number = 0; number < count; number++) {
    const place = { project: 'default', flag: `large-${number}`, environment: 'production' };
    await flags.createFlag(place, { name: place.flag });
    await flags.addStrategy(place, { name: 'default', parameters });
  }
  return count * PER_FLAG * MEGABYTE.length;
}
