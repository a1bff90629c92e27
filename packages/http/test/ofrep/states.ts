import type { Flags, Payload } from '@flags/core';

export const EVALUATE = '/ofrep/v1/evaluate/flags';

export interface FlagSetup {
  readonly project?: string;
  /** Of its only variant. */
  readonly payload?: Payload;
  /** Default: everybody. */
  readonly users?: string;
}

/** Creates a flag that is on in production. */
export async function switchOn(flags: Flags, name: string, setup: FlagSetup = {}): Promise<void> {
  const { project = 'default', payload, users } = setup;
  const production = { project, flag: name, environment: 'production' };
  await flags.createFlag({ project }, { name });
  await flags.addStrategy(
    production,
    users === undefined ? { name: 'default' } : { name: 'userWithId', parameters: { userIds: users } },
  );
  await flags.enable(production);
  if (payload) await flags.setVariants(production, [{ name: 'blue', payload }]);
}
