import type { Flags, Strategy, StrategyInput } from '../../src/index.js';
import { DEFAULT } from '../references.js';

export interface SwitchedOn {
  readonly flag: string;
  /** Default: one strategy `default`. */
  readonly strategies?: readonly StrategyInput<string>[];
  /** Default: `production`. */
  readonly environment?: string;
}

/** Creates a flag that is on in one environment. Returns its strategies. */
export async function createSwitchedOn(flags: Flags<string>, wanted: SwitchedOn): Promise<readonly Strategy[]> {
  const { flag, strategies = [{ name: 'default' }], environment = 'production' } = wanted;
  const place = { ...DEFAULT, flag, environment };
  await flags.createFlag(DEFAULT, { name: flag });
  const added: Strategy[] = [];
  for (const strategy of strategies) added.push(await flags.addStrategy(place, strategy));
  await flags.enable(place);
  return added;
}

/** A strategy for these users only. */
export function onlyFor(...users: readonly string[]): StrategyInput {
  return { name: 'userWithId', parameters: { userIds: users.join(',') } };
}
