import type { Flags, NewFlag } from '@flags/core';

/** A flag that is on for everyone in production, unless its strategy says otherwise. */
export async function createOn(flags: Flags, flag: NewFlag, project = 'default'): Promise<void> {
  const ref = { project, flag: flag.name, environment: 'production' };
  await flags.createFlag({ project }, flag);
  await flags.addStrategy(ref, { name: 'default' });
  await flags.enable(ref);
}
