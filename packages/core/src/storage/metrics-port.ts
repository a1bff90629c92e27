import type { Awaitable } from '../common.types.js';

/**
 * The metrics port: high-rate counters without invariants, kept apart from documents so that telemetry never moves a
 * flag's revision. Prove an implementation with `metricsConformance` of `@flags/core/testing`.
 *
 * All times are epoch milliseconds, all counts integers ≥ 0; sums stop at the largest exact one, 2^53 − 1. Names are
 * arbitrary text (`__proto__` included).
 */
export interface MetricsStorage {
  /**
   * Adds the counts of reports, marks their flags as seen at `stop` and their applications and instances as seen at
   * `at`; an unknown application or instance is created. Simultaneous reports all count. The outcome is that of one
   * report after the other, but all of them count or none does; none at all do nothing.
   *
   * Keeps within `LIMITS`: an application beyond `applications` is not created, and of its reports only the counts of
   * flags are taken; an instance beyond `instancesPerApplication` replaces the least recently seen one; an unknown name
   * beyond `unknownNamesPerApplication` (or `unknownNames` in all) replaces the least recently reported one.
   * Simultaneous callers in several processes may exceed a limit for a moment.
   *
   * @param registrations taken before the reports, each as by `register`, in the same whole
   */
  record(reports: readonly UsageReport[], registrations?: readonly ApplicationRegistration[]): Awaitable<void>;

  /**
   * Creates or renews an application and its instance. Absent members keep what was stored; strategies are replaced.
   * Keeps within the same limits as `record`.
   */
  register(registration: ApplicationRegistration): Awaitable<void>;

  /**
   * Sums per flag or unknown name of the counters whose second (of `stop`, rounded up) is later than `after`, by name in
   * code-point order. The resolution is one second.
   */
  counts(query: { readonly after: number }): Awaitable<FlagCount[]>;

  /** Applications seen at or after a time, by name in code-point order; a page of them, or only those named. */
  applications(query: ApplicationQuery): Awaitable<StoredApplication[]>;

  /** One application with its instances by id in code-point order; undefined when unknown. */
  application(name: string): Awaitable<StoredApplicationDetail | undefined>;

  /**
   * Which application has evaluated which flag or reported which unknown name, and how often, each pair once: by
   * application, then flag, in code-point order, unless the query says otherwise; all of it, or a page.
   */
  usage(query?: UsageQuery): Awaitable<FlagUsage[]>;

  /** When each of these flags was last counted: the latest `stop`. Flags never seen are absent. */
  lastSeen(flags: readonly string[]): Awaitable<ReadonlyMap<string, number>>;

  /** Forgets when a flag was last seen, its counters and its usage: its name may be used anew. */
  forget(flag: string): Awaitable<void>;

  /**
   * Forgets an application with its instances, its usage and its unknown names; what it has counted of flags stays.
   *
   * @returns whether it was known
   */
  forgetApplication(name: string): Awaitable<boolean>;

  /**
   * Drops what is no longer needed, so that the storage stays bounded. Works in short slices and lets the process do
   * other work in between; after a crash in the middle the next call drops the rest.
   */
  prune(retention: Retention): Awaitable<void>;

  /** What this instance has dropped because of limits since it was opened: an object whose numbers grow. */
  readonly dropped: DroppedMetrics;

  /** Gives back what the storage opened itself. Calling it again does nothing. */
  close(): Awaitable<void>;
}

export interface UsageReport {
  readonly application: string;
  readonly instance: InstanceSighting;
  /** When the report arrived. */
  readonly at: number;
  /** The end of the reported period, never later than `at`. */
  readonly stop: number;
  /** Each flag at most once. */
  readonly counts: readonly FlagCount[];
  /**
   * Counts of names that are no flag's, each at most once, at most `LIMITS.unknownNamesPerApplication`; a later one
   * counts as reported more recently. They say nothing about when a flag was last seen.
   */
  readonly unknown?: readonly FlagCount[];
  /** How many further names the report had, which are not kept. */
  readonly droppedNames?: number;
}

/** Numbers of what limits kept from being stored. */
export interface DroppedMetrics {
  /** Names that are no flag's, counted each time that one is dropped. */
  readonly names: number;
  /** Reports and registrations of applications beyond the limit. */
  readonly reports: number;
}

export interface ApplicationQuery {
  readonly seenSince: number;
  /** Only applications of these names. */
  readonly names?: readonly string[];
  /** Only applications whose name comes after this one. */
  readonly after?: string;
  /** At most so many; all when absent. */
  readonly limit?: number;
}

export interface UsageQuery {
  /** `application`: by application, then flag; `flag`: by flag, then application. Default `application`. */
  readonly order?: 'application' | 'flag';
  /** Only what comes after this pair in that order. */
  readonly after?: Pick<FlagUsage, 'application' | 'flag'>;
  /** At most so many; all when absent. */
  readonly limit?: number;
}

export interface FlagCount {
  readonly flag: string;
  readonly yes: number;
  readonly no: number;
}

export interface InstanceSighting {
  readonly id: string;
  /** The reporter's address; the stored one is kept when absent. */
  readonly clientIp?: string;
  /** The stored one is kept when absent. */
  readonly sdkVersion?: string;
}

export interface ApplicationRegistration {
  readonly application: string;
  readonly instance: InstanceSighting;
  readonly at: number;
  readonly strategies: readonly string[];
  readonly description?: string;
  readonly url?: string;
  readonly color?: string | null;
  readonly icon?: string;
}

export interface StoredApplication {
  readonly name: string;
  readonly strategies: readonly string[];
  /** '' until given. */
  readonly description: string;
  /** '' until given. */
  readonly url: string;
  /** null until given. */
  readonly color: string | null;
  /** '' until given. */
  readonly icon: string;
  readonly createdAt: number;
  /** The latest registration or report. */
  readonly seenAt: number;
}

export interface StoredApplicationDetail extends StoredApplication {
  readonly instances: readonly StoredInstance[];
  /** Names of the flags it has evaluated and of its unknown names, in code-point order. */
  readonly flags: readonly string[];
  /** How many of its unknown names were dropped; absent when none was. */
  readonly droppedNames?: number;
}

export interface StoredInstance {
  readonly id: string;
  /** '' when never told. */
  readonly clientIp: string;
  /** '' when never told. */
  readonly sdkVersion: string;
  readonly createdAt: number;
  readonly seenAt: number;
}

export interface FlagUsage {
  readonly application: string;
  readonly flag: string;
  /** Σ yes + no of all reports kept. */
  readonly count: number;
}

export interface Retention {
  /** Counters whose second is at or before this are dropped. */
  readonly countersUntil: number;
  /** Applications, with their usage, and single instances last seen before this are dropped. */
  readonly unseenSince: number;
  /**
   * Whether a flag of this name exists: its last-seen time and usage are kept however old; those of other names are
   * dropped like an application.
   */
  readonly isFlag: (name: string) => boolean;
}

/** The sum of two counts. It stops at the largest exact number, so that no report can make later ones fail. */
export function boundedSum(one: number, other: number): number {
  return Math.min(one + other, Number.MAX_SAFE_INTEGER);
}

/** The second a report is counted in: the end of its period, rounded up. Counters know no finer time. */
export function counterSecond(stop: number): number {
  return Math.ceil(stop / 1000);
}

/** The last second that is at or before a time: counters after the time have a greater one. */
export function lastSecondUntil(time: number): number {
  return Math.floor(time / 1000);
}
