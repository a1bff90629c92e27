import type { Awaitable } from '../awaitable.js';

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
   * @param registrations taken before the reports, each as by `register`, in the same whole
   */
  record(reports: readonly UsageReport[], registrations?: readonly ApplicationRegistration[]): Awaitable<void>;

  /** Creates or renews an application and its instance. Absent members keep what was stored; strategies are replaced. */
  register(registration: ApplicationRegistration): Awaitable<void>;

  /**
   * Sums per flag of the counters whose second (of `stop`, rounded up) is later than `after`, by flag in code-point
   * order. The resolution is one second.
   */
  counts(query: { readonly after: number }): Awaitable<FlagCount[]>;

  /** Applications seen at or after a time, by name in code-point order. */
  applications(query: { readonly seenSince: number }): Awaitable<StoredApplication[]>;

  /** One application with its instances by id in code-point order; undefined when unknown. */
  application(name: string): Awaitable<StoredApplicationDetail | undefined>;

  /** Which application has evaluated which flag, and how often, by application, then flag, in code-point order. */
  usage(): Awaitable<FlagUsage[]>;

  /** When each of these flags was last counted: the latest `stop`. Flags never seen are absent. */
  lastSeen(flags: readonly string[]): Awaitable<ReadonlyMap<string, number>>;

  /** Forgets when a flag was last seen, its counters and its usage: its name may be used anew. */
  forget(flag: string): Awaitable<void>;

  /** Drops what is no longer needed, so that the storage stays bounded. */
  prune(retention: Retention): Awaitable<void>;

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
  /** Names of the flags it has evaluated, in code-point order. */
  readonly flags: readonly string[];
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
   * Flags that exist: their last-seen time and usage are kept however old; those of other names are dropped like an
   * application.
   */
  readonly flags: readonly string[];
}
