import type { Flags, Rollout } from '../../src/index.js';
import { CHECKOUT, DEFAULT, PRODUCTION } from '../references.js';
import { DAY, HOUR } from '../settable-clock.js';

/** Four steps with a day between them. */
export const STEPS = {
  steps: [
    { rollout: 5, hold: DAY },
    { rollout: 25, hold: DAY },
    { rollout: 60, hold: DAY },
    { rollout: 100, hold: HOUR },
  ],
};

/** The strategy of {@link addGradual}. */
export interface Gradual {
  readonly project: string;
  readonly flag: string;
  readonly environment: string;
  readonly strategy: string;
}

/** Adds the flag `checkout`, on for one percent in production. */
export async function addGradual(flags: Flags<string>, rollout: string | number = '1'): Promise<Gradual> {
  await flags.createFlag(DEFAULT, { name: 'checkout' });
  const parameters = { rollout, stickiness: 'default', groupId: 'checkout' };
  const { id } = await flags.addStrategy(PRODUCTION, { name: 'flexibleRollout', parameters });
  await flags.enable(PRODUCTION);
  return { ...PRODUCTION, strategy: id };
}

/** Returns the parameters of the first strategy in production. */
export async function parametersOf(flags: Flags<string>): Promise<unknown> {
  const { environments } = await flags.getFlag(CHECKOUT);
  return environments.find(({ name }) => name === 'production')?.strategies[0]?.parameters;
}

/** Returns the percentage of that strategy. */
export async function percentage(flags: Flags<string>): Promise<unknown> {
  return ((await parametersOf(flags)) as Readonly<Record<string, unknown>> | null)?.rollout;
}

/** Returns what a round has moved, as state and index of the step. */
export async function round(flags: Flags<string>): Promise<readonly (readonly [string, number | undefined])[]> {
  const { items } = await flags.runDue();
  return items.map((item) => [item.state, 'step' in item ? (item as Rollout).step : undefined]);
}
