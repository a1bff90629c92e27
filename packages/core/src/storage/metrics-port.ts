import type { Awaitable } from '../base/common.types.js';

/**
 * The metrics port: stores usage counters, last-seen times and client applications.
 *
 * Metrics are separate from documents, so that a report never changes a flag's revision. Prove an implementation with
 * `metricsConformance` of `@flags/core/testing`.
 *
 * Times are milliseconds since 1970. Counts are integers from 0 to 2^53 − 1; sums stop at that maximum. Names are any text,
 * including `__proto__`. A method may return a value or a promise.
 *
 * Every method is safe to call concurrently, from any number of processes, and throws the `FlagsError` codes of
 * `Storage`: `storage_unavailable`, `storage_busy`, `outcome_unknown`, `storage_unsupported`, `closed`.
 *
 * @example
 * const metrics: MetricsStorage = memoryMetrics();
 * const now = Date.now();
 * await metrics.record([
 *   { application: 'shop', instance: { id: 'shop-1' }, at: now, stop: now, counts: [{ flag: 'a', yes: 3, no: 1 }] },
 * ]);
 * await metrics.counts({ after: now - 60_000 }); // [{ flag: 'a', yes: 3, no: 1 }]
 */
export interface MetricsStorage {
  /**
   * Records reports and registrations: all of them, or none.
   *
   * For each report it adds the counts, sets the last-seen time of each flag to `stop`, and marks the application and the
   * instance as seen at `at`. It creates unknown applications and instances. The result is the same as for one report
   * after the other. Concurrent reports all count. Without reports and registrations it does nothing.
   *
   * It applies these `LIMITS`; concurrent calls in several processes may exceed them for a moment:
   *
   * - `applications`: a further application replaces the least recently seen one that only public reporters have named. If
   *   there is none, or its own reporter is public, it is not created: of its reports, only the counts of flags are stored
   * - `applicationsPerToken`, or `applicationsPerFrontendToken` if the reporter is public: a further application of this
   *   token is not created. An application belongs to the token that created it. One of a public reporter belongs to the
   *   first other reporter that names it
   * - `instancesPerApplication`: a further instance replaces the one that was seen least recently
   * - `unknownNamesPerApplication` and `unknownNames`: a further name replaces the one that was reported least recently
   *
   * @param registrations recorded before the reports, each as by `register`
   */
  record(reports: readonly UsageReport[], registrations?: readonly ApplicationRegistration[]): Awaitable<void>;

  /**
   * Creates or updates an application and its instance. Applies the limits of `record`.
   *
   * Replaces the strategies. Other members that are absent keep their stored values.
   *
   * @example
   * await metrics.register({ application: 'shop', instance: { id: 'shop-1' }, at: Date.now(), strategies: ['default'] });
   */
  register(registration: ApplicationRegistration): Awaitable<void>;

  /**
   * Returns the summed counts of each flag and unknown name, by name in code-point order.
   *
   * Counters have a resolution of one second: a report counts in the second of its `stop`, rounded up. The sums cover the
   * seconds later than `after`.
   *
   * Beyond `LIMITS.countersBySecond` counters of flags, those of seconds older than two minutes, seen from the newest one,
   * count at the end of their minute, and those older than 61 minutes are dropped. `record` does so at the latest after
   * 10,000 more counts. So it keeps at most one counter per flag and second of two minutes, one per flag and minute of an
   * hour, and that number.
   */
  counts(query: { readonly after: number }): Awaitable<FlagCount[]>;

  /** Lists applications that were seen at or after a time, by name in code-point order: all, a page, or those named. */
  applications(query: ApplicationQuery): Awaitable<StoredApplication[]>;

  /** Returns an application with its instances by id in code-point order, or undefined if it is unknown. */
  application(name: string): Awaitable<StoredApplicationDetail | undefined>;

  /**
   * Lists how often each application evaluated each flag or reported each unknown name. Each pair occurs once.
   *
   * By application, then by flag, in code-point order, unless the query asks for the other order; all pairs, or a page.
   */
  usage(query?: UsageQuery): Awaitable<FlagUsage[]>;

  /**
   * Lists how often each application evaluated each flag in each environment, by the hour or the day.
   *
   * By flag, application, environment, then time, in code-point order; all rows, or a page. Each key occurs once. Hours
   * without reports are absent. Unknown names and applications beyond the limit do not count.
   *
   * It keeps the latest `LIMITS.usageHours` hours and `LIMITS.usageDays` days. It drops the oldest rows beyond
   * `LIMITS.usageHourRows` and `LIMITS.usageDayRows`; concurrent calls in several processes may exceed these for a while.
   */
  timedUsage(query: TimedUsageQuery): Awaitable<TimedUsage[]>;

  /** Returns the last-seen time of each flag: the latest `stop` of its reports. Flags that were never seen are absent. */
  lastSeen(flags: readonly string[]): Awaitable<ReadonlyMap<string, number>>;

  /** Deletes the last-seen time, the counters and all usage of a flag, so that a new flag may get its name. */
  forget(flag: string): Awaitable<void>;

  /**
   * Deletes an application with its instances, usage and unknown names. The counts of flags and their timed usage remain.
   *
   * @returns whether the application was known
   */
  forgetApplication(name: string): Awaitable<boolean>;

  /**
   * Deletes what has expired, so that the storage stays bounded.
   *
   * Works in short slices, and lets other work run in between. If the process crashes, the next call deletes the rest.
   */
  prune(retention: Retention): Awaitable<void>;

  /** What this instance has dropped because of limits since it was opened. The numbers of this object grow. */
  readonly dropped: DroppedMetrics;

  /** Closes what the storage opened itself. Calling it again has no effect. */
  close(): Awaitable<void>;
}

/** The evaluations of one instance of an application in one period. */
export interface UsageReport {
  readonly application: string;
  readonly instance: InstanceSighting;
  /** When the report arrived. */
  readonly at: number;
  /** End of the reported period, at most `at`. */
  readonly stop: number;
  /** The environment of the evaluations. Default: ''. */
  readonly environment?: string;
  /** The start of the hour in which timed usage counts the report, at most `stop`. Default: the hour of `stop`. */
  readonly hour?: number;
  readonly reporter?: Reporter;
  /** Each flag at most once. */
  readonly counts: readonly ReportedCount[];
  /**
   * Counts of names that are not flags: each name at most once, at most `LIMITS.unknownNamesPerApplication` names, the
   * most recent last. They do not change a last-seen time.
   */
  readonly unknown?: readonly FlagCount[];
  /** Number of further names in the report, which the caller left out. */
  readonly droppedNames?: number;
}

/** The sender of a report or registration. Without one, the application counts for no token, and makes room for no other. */
export interface Reporter {
  /** The id of its API token; '' without one. */
  readonly token: string;
  /** Anybody may have the token, as that of a browser page. */
  readonly isPublic: boolean;
}

/** What limits kept from being stored. */
export interface DroppedMetrics {
  /** Names that are not flags; a name counts each time it is dropped. */
  readonly names: number;
  /** Reports and registrations of applications beyond the limit. */
  readonly reports: number;
  /** Rows of timed usage beyond the limit: the oldest hours and days. Absent means none. */
  readonly usage?: number;
}

export interface ApplicationQuery {
  readonly seenSince: number;
  /** Only applications with these names. */
  readonly names?: readonly string[];
  /** Only applications whose names are greater than this one, in code-point order. */
  readonly after?: string;
  /** Maximum number of applications. Default: no limit. */
  readonly limit?: number;
}

export interface UsageQuery {
  /** `application`: by application, then flag; `flag`: by flag, then application. Default `application`. */
  readonly order?: 'application' | 'flag';
  /** Only pairs that follow this one in that order. */
  readonly after?: Pick<FlagUsage, 'application' | 'flag'>;
  /** Maximum number of pairs. Default: no limit. */
  readonly limit?: number;
}

export interface TimedUsageQuery {
  readonly unit: 'hour' | 'day';
  /** Only hours or days that start at or after this time. */
  readonly from: number;
  readonly flag?: string;
  readonly application?: string;
  readonly environment?: string;
  /** Only rows that follow this one. */
  readonly after?: TimedUsageKey;
  /** Maximum number of rows. Default: no limit. */
  readonly limit?: number;
}

export interface TimedUsageKey {
  readonly flag: string;
  readonly application: string;
  readonly environment: string;
  /** The start of the hour or day. */
  readonly start: number;
}

export interface TimedUsage extends TimedUsageKey {
  readonly yes: number;
  readonly no: number;
  /** By name in code-point order. */
  readonly variants: readonly VariantCount[];
}

export interface VariantCount {
  readonly variant: string;
  readonly count: number;
}

export interface FlagCount {
  readonly flag: string;
  readonly yes: number;
  readonly no: number;
}

export interface ReportedCount extends FlagCount {
  /** Each variant at most once. */
  readonly variants?: readonly VariantCount[];
}

/** An instance that sent a report or a registration. Absent members keep their stored values. */
export interface InstanceSighting {
  readonly id: string;
  /** The address of the reporter. */
  readonly clientIp?: string;
  readonly sdkVersion?: string;
}

export interface ApplicationRegistration {
  readonly application: string;
  readonly instance: InstanceSighting;
  readonly at: number;
  readonly reporter?: Reporter;
  readonly strategies: readonly string[];
  readonly description?: string;
  readonly url?: string;
  readonly color?: string | null;
  readonly icon?: string;
}

export interface StoredApplication {
  readonly name: string;
  readonly strategies: readonly string[];
  /** '' until a registration gives one. */
  readonly description: string;
  /** '' until a registration gives one. */
  readonly url: string;
  /** null until a registration gives one. */
  readonly color: string | null;
  /** '' until a registration gives one. */
  readonly icon: string;
  readonly createdAt: number;
  /** Time of the latest registration or report. */
  readonly seenAt: number;
}

export interface StoredApplicationDetail extends StoredApplication {
  readonly instances: readonly StoredInstance[];
  /** Names of the flags that it evaluated and of its unknown names, in code-point order. */
  readonly flags: readonly string[];
  /** Number of its unknown names that were dropped; absent if none was. */
  readonly droppedNames?: number;
}

export interface StoredInstance {
  readonly id: string;
  /** '' until a report or registration gives one. */
  readonly clientIp: string;
  /** '' until a report or registration gives one. */
  readonly sdkVersion: string;
  readonly createdAt: number;
  readonly seenAt: number;
}

export interface FlagUsage {
  readonly application: string;
  readonly flag: string;
  /** Sum of `yes` and `no` of all retained reports. */
  readonly count: number;
}

/** What {@link MetricsStorage.prune} keeps. */
export interface Retention {
  /** Counters whose second is at or before this time are deleted. */
  readonly countersUntil: number;
  /** Hours of timed usage that start before this time are deleted. Default: none. */
  readonly hoursBefore?: number;
  /** Days of timed usage that start before this time are deleted. Default: none. */
  readonly daysBefore?: number;
  /** Instances, and applications with their usage, that were last seen before this time are deleted. */
  readonly unseenSince: number;
  /**
   * Returns whether a flag of this name exists. Its last-seen time and usage are kept at any age. Those of other names are
   * deleted when they are older than `unseenSince`.
   */
  readonly isFlag: (name: string) => boolean;
}
