import type { EndedRollout, Flags, Rollout, Strategy } from '../../src/index.js';
import { CHECKOUT, DEFAULT, PRODUCTION } from '../references.js';
import { DAY, HOUR } from '../settable-clock.js';

/** Four steps with a day between them. */
export const STEPS = {
  steps: [
    { percentage: 5, hold: DAY },
    { percentage: 25, hold: DAY },
    { percentage: 60, hold: DAY },
    { percentage: 100, hold: HOUR },
  ],
};

/** The strategy of {@link addGradual}. */
export interface Gradual {
  readonly project: string;
  readonly flag: string;
  readonly environment: string;
  readonly strategy: string;
}

/** Adds a flag, on for one percent in production. */
export async function addGradual(
  flags: Flags<string>,
  rollout: string | number = '1',
  flag = 'checkout',
): Promise<Gradual> {
  await flags.createFlag(DEFAULT, { name: flag });
  const place = { ...PRODUCTION, flag };
  const parameters = { rollout, stickiness: 'default', groupId: 'checkout' };
  const { id } = await flags.addStrategy(place, { name: 'flexibleRollout', parameters });
  await flags.enable(place);
  return { ...place, strategy: id };
}

/** Returns the strategies in production. */
export async function strategiesOf(flags: Flags<string>): Promise<readonly Strategy[]> {
  const { environments } = await flags.getFlag(CHECKOUT);
  return environments.find(({ name }) => name === 'production')?.strategies ?? [];
}

/** Returns the parameters of the first strategy in production. */
export async function parametersOf(flags: Flags<string>): Promise<unknown> {
  return (await strategiesOf(flags))[0]?.parameters;
}

/** Returns the percentage of that strategy. */
export async function percentage(flags: Flags<string>): Promise<unknown> {
  return ((await parametersOf(flags)) as Readonly<Record<string, unknown>> | null)?.rollout;
}

/** Returns what a round has moved, as state and index of the step; `ended` for a rollout that has ended. */
export async function round(flags: Flags<string>): Promise<readonly (readonly [string, number | undefined])[]> {
  const { items } = await flags.runDue();
  return (items as readonly (Rollout | EndedRollout)[]).map((item) =>
    item.state === undefined ? ['ended', undefined] : [item.state, item.step],
  );
}

/** Returns the types of the newest events, oldest first, each with the reason of an end. */
export async function facts(flags: Flags<string>, limit: number): Promise<readonly (readonly [string, unknown?])[]> {
  const { items } = await flags.events.list({ limit });
  return items.toReversed().map(({ type, data }) => {
    const { reason } = Object(data) as { readonly reason?: unknown };
    return reason === undefined ? [type] : [type, reason];
  });
}
