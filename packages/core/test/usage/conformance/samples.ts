import type {
  ApplicationQuery,
  ApplicationRegistration,
  DroppedUsage,
  Resolution,
  StoredApplication,
  StoredInstance,
  UsageBatch,
  UsageReport,
  UsageStorage,
} from '../../../src/storage/usage/port.js';
import type { Rule } from '../../../src/testing/test-runner.js';

/**
 * Declares one rule of the usage port, and its test on an empty storage. `again` opens another instance on the same data, or
 * returns the same instance if there can be only one. `refuse` is undefined if no write can fail.
 */
export type UsageRule = Rule<
  (
    usage: UsageStorage,
    again: () => Promise<UsageStorage>,
    refuse: ((flag: string) => unknown) | undefined,
  ) => Promise<void>
>;

/** The first moment of an hour. All times of the suite are relative to it. */
export const NOW = Date.UTC(2030, 0, 15, 12, 0, 0);
export const SECOND = 1000;

/** Returns a report of one evaluation of `checkout` by `shop` at {@link NOW}, with the given changes. */
export function report(given: Partial<UsageReport> = {}): UsageReport {
  return {
    application: 'shop',
    instance: { id: 'shop-1' },
    stop: NOW,
    counts: [{ flag: 'checkout', yes: 1, no: 0 }],
    ...given,
  };
}

/** Returns a registration of `shop` with the required members and the given ones. */
export function registration(given: Partial<ApplicationRegistration> = {}): ApplicationRegistration {
  return { application: 'shop', instance: { id: 'shop-1' }, strategies: ['default'], ...given };
}

type Given = Partial<Pick<UsageBatch, 'id' | 'at' | 'reporter' | 'registrations'>>;

/** Records reports that arrive at {@link NOW}, in one batch. */
export async function record(
  usage: UsageStorage,
  reports: UsageReport | readonly UsageReport[],
  given: Given = {},
): Promise<DroppedUsage> {
  return usage.record({ id: crypto.randomUUID(), at: NOW, reports: [reports].flat(), ...given });
}

/** Records registrations that arrive at {@link NOW}, in one batch. */
export function register(
  usage: UsageStorage,
  registrations: ApplicationRegistration | readonly ApplicationRegistration[],
  given: Given = {},
): Promise<DroppedUsage> {
  return record(usage, [], { registrations: [registrations].flat(), ...given });
}

/** Returns counts of one evaluation per flag. */
export function once(...flags: readonly string[]): UsageReport['counts'] {
  return flags.map((flag) => ({ flag, yes: 1, no: 0 }));
}

/** Returns names in code-point order. */
export function namesOf(count: number, prefix = 'name'): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${10_000 + index}`);
}

/** Sums all periods that are kept by flag. */
export async function countsIn(usage: UsageStorage, resolution: Resolution = 'minute') {
  return usage.sum({ resolution, by: ['flag'] });
}

/** Returns how often each application evaluated each flag, by application. */
export async function pairsIn(usage: UsageStorage) {
  const sums = await usage.sum({ resolution: 'ever', by: ['application', 'flag'] });
  return sums.map(({ application, flag, yes, no }) => ({ application, flag, count: yes + no }));
}

/** Returns the names of the flags that an application has evaluated. */
export async function flagsOf(usage: UsageStorage, application: string): Promise<string[]> {
  const sums = await usage.sum({ resolution: 'ever', by: ['application', 'flag'], application });
  return sums.map(({ flag }) => flag);
}

/** Returns the last-seen times of flags, by name. */
export async function seenTimes(usage: UsageStorage, ...flags: readonly string[]): Promise<[string, number][]> {
  return [...(await usage.lastSeen(flags))].sort(([one], [other]) => (one < other ? -1 : 1));
}

/** Returns the names of applications. */
export async function applicationsIn(usage: UsageStorage, query: ApplicationQuery = {}): Promise<string[]> {
  return (await usage.applications(query)).map(({ name }) => name);
}

/** Returns an application with its instances. */
export async function applicationOf(usage: UsageStorage, name: string): Promise<StoredApplication | undefined> {
  return (await usage.applications({ names: [name], instances: true }))[0];
}

export async function instancesOf(usage: UsageStorage, application: string): Promise<readonly StoredInstance[]> {
  return (await applicationOf(usage, application))?.instances ?? [];
}
