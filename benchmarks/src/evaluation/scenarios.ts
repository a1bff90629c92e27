/** The scenarios for every engine. Each call has a number and evaluates another user. */
export const SCENARIOS = [
  'on for all',
  '50 % rollout',
  '50 % rollout, with a fresh context',
  'two constraints and rollout',
  'at least a version',
  'variant',
  '50 % rollout, a random one of 1,000 flags',
  'list of 10,000 ids',
] as const;

export type Scenario = (typeof SCENARIOS)[number];

export interface Engine {
  readonly name: string;
  /** Its package. The code by hand has none. */
  readonly dependency?: string;
  readonly calls: Readonly<Record<Scenario, (call: number) => unknown>>;
  close(): void;
}

const USERS = 1024;
const MANY_FLAGS = 1000;

export const COUNTRIES: readonly string[] = ['no', 'se', 'dk'];
export const OLDEST_VERSION = [2, 10, 3] as const;

export interface User {
  readonly id: string;
  readonly country: string;
  readonly age: number;
  readonly version: string;
}

export const users: readonly User[] = Array.from({ length: USERS }, (_, at) => ({
  id: `user-${at * 7919}`,
  country: ['no', 'se', 'dk', 'fi'][at % 4] ?? 'no',
  age: 18 + (at % 50),
  version: `${1 + (at % 3)}.${at % 20}.${at % 7}`,
}));

export const listedIds: readonly string[] = Array.from({ length: 10_000 }, (_, at) => `user-${at * 31}`);

export const manyNames: readonly string[] = Array.from({ length: MANY_FLAGS }, (_, at) => `team-${at % 17}.flag-${at}`);

/** Names of flags without an order, so that the memory of the next one cannot be foreseen. */
export const randomNames: readonly string[] = Array.from({ length: 16_384 }, () => {
  return manyNames[Math.floor(Math.random() * MANY_FLAGS)] as string;
});

/** Returns an item of a list for a call: consecutive calls get different ones. */
export function at<Item>(items: readonly Item[], call: number): Item {
  return items[call % items.length] as Item;
}
