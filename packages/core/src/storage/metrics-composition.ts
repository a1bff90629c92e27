import { compareCodePoints } from '../base/collections.js';
import { boundedSum } from './counters.js';
import type {
  ApplicationQuery,
  ApplicationRegistration,
  DroppedMetrics,
  FlagCount,
  FlagUsage,
  InstanceSighting,
  MetricsStorage,
  Reporter,
  Retention,
  StoredApplication,
  StoredApplicationDetail,
  TimedUsage,
  TimedUsageQuery,
  UsageQuery,
  UsageReport,
} from './metrics-port.js';
import { publicLast } from './reporters.js';
import type { SlicedWork } from './slices.js';

/** Counts per second and flag. */
export interface Counters {
  add(reports: readonly UsageReport[]): void;
  /** Adds the counts of the seconds after a time to the sums. */
  sumAfter(time: number, sums: FlagSums): SlicedWork;
  forget(flag: string): void;
  dropUntil(time: number): SlicedWork;
}

/** Last-seen times of flags. */
export interface LastSeen {
  add(reports: readonly UsageReport[]): void;
  of(flags: readonly string[]): Map<string, number>;
  forget(flag: string): void;
  /** Deletes names that are not flags and were last seen before `unseenSince`; calls `onDropped` with each. */
  dropUnknown(retention: Retention, onDropped: (flag: string) => void): SlicedWork;
}

/** An instance of an application that sent a report or a registration. */
export interface Sighting {
  readonly application: string;
  readonly instance: InstanceSighting;
  readonly at: number;
  readonly reporter?: Reporter;
}

/** Applications with their instances and the flags that they evaluated. */
export interface Applications {
  /** Marks applications as seen, and creates unknown ones within the limits. Returns the names of those that exist. */
  admit(sightings: readonly Sighting[]): ReadonlySet<string>;
  /** Returns the application to delete before these are admitted; undefined if there is none. */
  displaced(sightings: readonly Sighting[]): string | undefined;
  /** The applications must have been admitted. Returns the number of dropped rows of timed usage. */
  add(reports: readonly UsageReport[]): number;
  /** The application must have been admitted. */
  register(registration: ApplicationRegistration): void;
  has(name: string): boolean;
  list(query: ApplicationQuery): StoredApplication[];
  detail(name: string): Omit<StoredApplicationDetail, 'droppedNames'> | undefined;
  usage(query: UsageQuery): FlagUsage[];
  /** Appends the rows to `found`. */
  timedUsage(query: TimedUsageQuery, found: TimedUsage[]): SlicedWork;
  forget(flag: string): void;
  /** Deletes a part of a flag's timed usage. Returns whether more is left. */
  forgetSlice(flag: string): boolean;
  dropTimedUsage(retention: Retention): readonly SlicedWork[];
  /** Deletes a part of an application. Returns whether more is left. */
  removeSlice(name: string): boolean;
  /** Returns steps to run one after the other. */
  dropUnseenSince(time: number, onDropped: (name: string) => void): readonly SlicedWork[];
}

/** Counts of names that are not flags. */
export interface UnknownNames {
  /** The applications must have been admitted. Returns the number of dropped names. */
  add(reports: readonly UsageReport[]): number;
  /** As {@link Counters.sumAfter}. */
  sumAfter(time: number, sums: FlagSums): SlicedWork;
  usage(query: UsageQuery): FlagUsage[];
  of(application: string): readonly string[];
  droppedOf(application: string): number;
  forget(flag: string): void;
  removeApplication(name: string): void;
  /** Deletes what the retention no longer keeps. */
  drop(retention: Retention): readonly SlicedWork[];
}

/** Sums by flag name. */
export type FlagSums = Map<string, { -readonly [Member in keyof FlagCount]: FlagCount[Member] }>;

export interface MetricsParts {
  readonly counters: Counters;
  readonly lastSeen: LastSeen;
  readonly applications: Applications;
  readonly unknownNames: UnknownNames;
}

/**
 * Builds the methods of the metrics port from its parts, for memory and SQLite.
 *
 * They are synchronous. The caller runs each in one transaction or read; long work comes in slices.
 */
export function composeMetrics({ counters, lastSeen, applications, unknownNames }: MetricsParts) {
  function register(registrations: readonly ApplicationRegistration[]): DroppedMetrics {
    const known = applications.admit(publicLast(registrations));
    const admitted = registrations.filter(({ application }) => known.has(application));
    for (const registration of admitted) applications.register(registration);
    return { names: 0, reports: registrations.length - admitted.length, usage: 0 };
  }

  /** Deletes a part of an application. Returns whether more is left. */
  function removeSlice(name: string): boolean {
    unknownNames.removeApplication(name);
    return applications.removeSlice(name);
  }

  return {
    /** Whether applications must make room before these are recorded. */
    needsRoom: (sightings: readonly Sighting[]): boolean => applications.displaced(sightings) !== undefined,
    /** Deletes a part of the applications that must make room. Returns whether more may be left. */
    makeRoom(sightings: readonly Sighting[]): boolean {
      const name = applications.displaced(sightings);
      if (name !== undefined) removeSlice(name);
      return name !== undefined;
    },
    record(reports: readonly UsageReport[], registrations: readonly ApplicationRegistration[] = []): DroppedMetrics {
      const refused = registrations.length > 0 ? register(registrations).reports : 0;
      counters.add(reports);
      lastSeen.add(reports);
      const known = applications.admit(publicLast(reports));
      const admitted = reports.filter(({ application }) => known.has(application));
      const usage = applications.add(admitted);
      const names = unknownNames.add(admitted);
      return { names, reports: refused + reports.length - admitted.length, usage };
    },
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
    timedUsage: applications.timedUsage,
    /** Deletes a part of a flag's timed usage. Returns whether more is left. Call it before `forget`. */
    forgetSlice: (flag: string): boolean => applications.forgetSlice(flag),
    forget(flag: string): void {
      counters.forget(flag);
      lastSeen.forget(flag);
      applications.forget(flag);
      unknownNames.forget(flag);
    },
    removeSlice,
    has: (name: string): boolean => applications.has(name),
    prune: (retention: Retention): readonly SlicedWork[] => [
      counters.dropUntil(retention.countersUntil),
      ...applications.dropTimedUsage(retention),
      ...unknownNames.drop(retention),
      ...applications.dropUnseenSince(retention.unseenSince, (name) => unknownNames.removeApplication(name)),
      lastSeen.dropUnknown(retention, (flag) => applications.forget(flag)),
    ],
  };
}

/** Adds a count to the sum of its flag. The sums do not share objects with the caller. */
export function addToSums(sums: FlagSums, { flag, yes, no }: FlagCount): void {
  const known = sums.get(flag);
  if (known === undefined) {
    sums.set(flag, { flag, yes, no });
    return;
  }
  known.yes = boundedSum(known.yes, yes);
  known.no = boundedSum(known.no, no);
}

/** Returns the sums by name in code-point order. */
export function sortedSums(sums: FlagSums): FlagCount[] {
  return [...sums.values()].sort((one, other) => compareCodePoints(one.flag, other.flag));
}

/** Wraps metrics so that they call `onChange` before every change. */
export function withChangeHook(metrics: MetricsStorage, onChange: () => void): MetricsStorage {
  return {
    ...metrics,
    record(reports, registrations) {
      onChange();
      return metrics.record(reports, registrations);
    },
    register(registration) {
      onChange();
      return metrics.register(registration);
    },
    forget(flag) {
      onChange();
      return metrics.forget(flag);
    },
    forgetApplication(name) {
      onChange();
      return metrics.forgetApplication(name);
    },
    prune(retention) {
      onChange();
      return metrics.prune(retention);
    },
  };
}

/** Merges two sorted pages of the same query into one. Adds up the counts of a pair that is in both. */
function mergeUsage(
  flags: readonly FlagUsage[],
  unknown: readonly FlagUsage[],
  { order = 'application', limit = Number.POSITIVE_INFINITY }: UsageQuery,
): FlagUsage[] {
  if (unknown.length === 0) return [...flags];
  const merged: FlagUsage[] = [];
  let [one, other] = [0, 0];
  while (merged.length < limit) {
    const [left, right] = [flags[one], unknown[other]];
    const next = left === undefined ? 1 : right === undefined ? -1 : compareUsage(order, left, right);
    if (left !== undefined && right !== undefined && next === 0) {
      merged.push({ ...left, count: boundedSum(left.count, right.count) });
    } else {
      const first = next < 0 ? left : right;
      if (first === undefined) break;
      merged.push(first);
    }
    if (next <= 0) one += 1;
    if (next >= 0) other += 1;
  }
  return merged;
}

/** Compares two pairs in the order of a usage query. */
export function compareUsage(
  order: 'application' | 'flag',
  one: Pick<FlagUsage, 'application' | 'flag'>,
  other: Pick<FlagUsage, 'application' | 'flag'>,
): number {
  const byApplication = () => compareCodePoints(one.application, other.application);
  const byFlag = () => compareCodePoints(one.flag, other.flag);
  return order === 'application' ? byApplication() || byFlag() : byFlag() || byApplication();
}
