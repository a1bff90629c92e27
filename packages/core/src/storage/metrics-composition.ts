import { compareCodePoints } from '../collections.js';
import { mergeUsage } from './memory/usage.js';
import {
  type ApplicationQuery,
  type ApplicationRegistration,
  boundedSum,
  type DroppedMetrics,
  type FlagCount,
  type FlagUsage,
  type InstanceSighting,
  type MetricsStorage,
  type Retention,
  type StoredApplication,
  type StoredApplicationDetail,
  type UsageQuery,
  type UsageReport,
} from './metrics-port.js';
import type { SlicedWork } from './slices.js';

/** Counts per second and flag. */
export interface Counters {
  add(reports: readonly UsageReport[]): void;
  /** Adds the counters after a time to the sums. */
  sumAfter(time: number, sums: FlagSums): SlicedWork;
  forget(flag: string): void;
  dropUntil(time: number): SlicedWork;
}

/** When each flag was last counted. */
export interface Sightings {
  add(reports: readonly UsageReport[]): void;
  of(flags: readonly string[]): Map<string, number>;
  forget(flag: string): void;
  /** Drops the names that are no flag's and were last seen before the time, and hands each to `onDropped`. */
  dropStrangers(retention: Retention, onDropped: (flag: string) => void): SlicedWork;
}

/** That an application was there. */
export interface Sighting {
  readonly application: string;
  readonly instance: InstanceSighting;
  readonly at: number;
}

/** The applications with their instances and with the flags they have evaluated. */
export interface Applications {
  /** Marks applications as seen; creates the unknown ones while there is room. Gives the names of those that are there. */
  admit(sightings: readonly Sighting[]): ReadonlySet<string>;
  /** Of admitted applications. */
  add(reports: readonly UsageReport[]): void;
  /** Of an admitted application. */
  register(registration: ApplicationRegistration): void;
  has(name: string): boolean;
  list(query: ApplicationQuery): StoredApplication[];
  detail(name: string): Omit<StoredApplicationDetail, 'droppedNames'> | undefined;
  usage(query: UsageQuery): FlagUsage[];
  forget(flag: string): void;
  /** Removes a part of an application; whether more is left to do. */
  removeSlice(name: string): boolean;
  /** In several steps, one after the other. */
  dropUnseenSince(time: number, onDropped: (name: string) => void): readonly SlicedWork[];
}

/** What applications report under names that are no flag's. */
export interface UnknownNames {
  /** Of admitted applications. Gives how many names were dropped. */
  add(reports: readonly UsageReport[]): number;
  /** As {@link Counters.sumAfter}. */
  sumAfter(time: number, sums: FlagSums): SlicedWork;
  usage(query: UsageQuery): FlagUsage[];
  of(application: string): readonly string[];
  droppedOf(application: string): number;
  forget(flag: string): void;
  removeApplication(name: string): void;
  /** Drops names last reported, and counters that ended, before what is retained. */
  drop(retention: Retention): readonly SlicedWork[];
}

/** Sums by flag name. */
export type FlagSums = Map<string, FlagCount>;

export interface MetricsParts {
  readonly counters: Counters;
  readonly sightings: Sightings;
  readonly applications: Applications;
  readonly unknownNames: UnknownNames;
}

/** The calls of the port that take one transaction or one read: each is done when it returns. Long work comes in slices. */
export type SynchronousMetrics = ReturnType<typeof composeMetrics>;

/** What each call of the port means to the parts, the same for every storage built of them. */
export function composeMetrics({ counters, sightings, applications, unknownNames }: MetricsParts) {
  function register(registrations: readonly ApplicationRegistration[]): DroppedMetrics {
    const known = applications.admit(registrations);
    const admitted = registrations.filter(({ application }) => known.has(application));
    for (const registration of admitted) applications.register(registration);
    return { names: 0, reports: registrations.length - admitted.length };
  }

  return {
    record(reports: readonly UsageReport[], registrations: readonly ApplicationRegistration[] = []): DroppedMetrics {
      const refused = register(registrations).reports;
      counters.add(reports);
      sightings.add(reports);
      const known = applications.admit(reports);
      const admitted = reports.filter(({ application }) => known.has(application));
      applications.add(admitted);
      const names = unknownNames.add(admitted);
      return { names, reports: refused + reports.length - admitted.length };
    },
    register: (registration: ApplicationRegistration): DroppedMetrics => register([registration]),
    counts: (after: number, sums: FlagSums): readonly SlicedWork[] => [
      counters.sumAfter(after, sums),
      unknownNames.sumAfter(after, sums),
    ],
    applications: (query: ApplicationQuery) => applications.list(query),
    application(name: string): StoredApplicationDetail | undefined {
      const detail = applications.detail(name);
      if (!detail) return undefined;
      const flags = [...new Set([...detail.flags, ...unknownNames.of(name)])].sort(compareCodePoints);
      const droppedNames = unknownNames.droppedOf(name);
      return { ...detail, flags, ...(droppedNames > 0 && { droppedNames }) };
    },
    usage: (query: UsageQuery = {}) => mergeUsage(applications.usage(query), unknownNames.usage(query), query),
    lastSeen: (flags: readonly string[]) => sightings.of(flags),
    forget(flag: string): void {
      counters.forget(flag);
      sightings.forget(flag);
      applications.forget(flag);
      unknownNames.forget(flag);
    },
    /** Removes a part of an application; whether more is left. */
    removeSlice(name: string): boolean {
      unknownNames.removeApplication(name);
      return applications.removeSlice(name);
    },
    has: (name: string): boolean => applications.has(name),
    prune: (retention: Retention): readonly SlicedWork[] => [
      counters.dropUntil(retention.countersUntil),
      ...unknownNames.drop(retention),
      ...applications.dropUnseenSince(retention.unseenSince, (name) => unknownNames.removeApplication(name)),
      sightings.dropStrangers(retention, (flag) => applications.forget(flag)),
    ],
  };
}

/** Adds a count to the sum of its flag; the sums keep objects of their own. */
export function addToSums(sums: FlagSums, { flag, yes, no }: FlagCount): void {
  const known = sums.get(flag);
  sums.set(flag, { flag, yes: boundedSum(yes, known?.yes ?? 0), no: boundedSum(no, known?.no ?? 0) });
}

/** The sums by name in code-point order. */
export function sortedSums(sums: FlagSums): FlagCount[] {
  return [...sums.values()].sort((one, other) => compareCodePoints(one.flag, other.flag));
}

/** Metrics that call `note` with every change. */
export function withChangeHook(metrics: MetricsStorage, note: () => void): MetricsStorage {
  return {
    ...metrics,
    record(reports, registrations) {
      note();
      return metrics.record(reports, registrations);
    },
    register(registration) {
      note();
      return metrics.register(registration);
    },
    forget(flag) {
      note();
      return metrics.forget(flag);
    },
    forgetApplication(name) {
      note();
      return metrics.forgetApplication(name);
    },
    prune(retention) {
      note();
      return metrics.prune(retention);
    },
  };
}
