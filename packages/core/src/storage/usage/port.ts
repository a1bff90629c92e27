import type { Awaitable } from '../../base/common.types.js';

/**
 * The usage port: stores how often flags were evaluated, when, and by which applications. It is internal: our own storages
 * implement it, and usage of any other storage is in memory.
 *
 * Usage is separate from documents: a report never changes a flag's revision. Recording is commutative, so that any number of
 * processes may write at once.
 *
 * Times are milliseconds since 1970. Counts are integers from 0 to 2^53 − 1; sums stop at that maximum. Names are any text
 * but the empty one, including `__proto__`. A method may return a value or a promise.
 *
 * Every method is safe to call concurrently, from any number of processes, and throws the `FlagsError` codes of
 * `FlagsStorage`: `storage_unavailable`, `storage_busy`, `outcome_unknown`, `storage_unsupported`, `closed`.
 *
 * @example
 * const usage: UsageStorage = memoryUsage();
 * const at = Date.now();
 * const counts = [{ flag: 'checkout', yes: 3, no: 1 }];
 * await usage.record({
 *   id: crypto.randomUUID(),
 *   at,
 *   reports: [{ application: 'shop', instance: { id: 'shop-1' }, stop: at, counts }],
 * });
 * await usage.sum({ resolution: 'minute', by: ['flag'], from: at - 60_000 }); // [{ flag: 'checkout', yes: 3, no: 1 }]
 */
export interface UsageStorage {
  /**
   * Records a batch: all of it, or nothing. A batch whose id was recorded within the last day changes nothing.
   *
   * Registrations are recorded first, each in the given order. The result is the same as for one batch per registration and
   * report. Concurrent batches all count. See {@link UsageReport} and {@link ApplicationRegistration} for what is stored.
   *
   * It applies these `LIMITS`; concurrent calls in several processes may exceed them for a moment:
   *
   * - `applications`, and for one token `applicationsPerToken`, or `applicationsPerFrontendToken` if the reporter is public:
   *   a further application is not stored: of its reports, only the counts of flags by minute and the last-seen times are. An application belongs to the token that named it first
   * - `instancesPerApplication`: a further instance replaces the one that was seen least recently
   * - `unknownNamesPerApplication`: a further name replaces one that only public reporters have named, otherwise the one
   *   that was reported least recently
   *
   * @returns the numbers of dropped items
   */
  record(batch: UsageBatch): Awaitable<DroppedUsage>;

  /**
   * Sums the counts of one resolution, grouped by the members of `by` and in their order: texts in code-point order, times
   * ascending. Each group occurs once.
   *
   * @example
   * await usage.sum({ resolution: 'ever', by: ['application', 'flag'], limit: 1000 });
   */
  sum<Key extends UsageKey>(query: SumQuery<Key>): Awaitable<UsageSum<Key>[]>;

  /** Returns the last-seen time of each flag: the latest `stop` of its reports. Flags that were never seen are absent. */
  lastSeen(flags: readonly string[]): Awaitable<ReadonlyMap<string, number>>;

  /** Lists applications by name in code-point order: all, a page, or those named. */
  applications(query: ApplicationQuery): Awaitable<StoredApplication[]>;

  /**
   * Deletes the usage of flags, so that new flags may get their names; or an application with its instances, its
   * sums of resolution `ever` and its unknown names. An application's counts by hour and day remain.
   *
   * @returns whether the application was known; for flags, true
   */
  forget(subject: UsageSubject): Awaitable<boolean>;

  /**
   * Deletes expired rows and rows beyond a bound, so that the storage stays bounded.
   *
   * Counts expire by the table of resolution, ids of batches after a day. Beyond `LIMITS.usageHourRows`,
   * `usageDayRows`, `usagePairs` and `unknownNames` it deletes the oldest rows that only public reporters have reported,
   * then the oldest rows of the largest application. A storage may have lower bounds.
   *
   * Works in short slices, and lets other work run in between. If the process crashes, the next call deletes the rest.
   *
   * @returns the numbers of items that bounds deleted, without expired ones
   */
  prune(retention: UsageRetention): Awaitable<DroppedUsage>;

  /** Closes the resources that the storage opened itself. Calling it again has no effect. */
  close(): Awaitable<void>;
}

/**
 * The length of the periods that counts are stored by, and how long they are kept:
 *
 * | Resolution | Kept | By application | By environment and variant |
 * | --- | --- | --- | --- |
 * | `minute` | 61 minutes | no | no |
 * | `hour` | `LIMITS.usageHours` hours | yes | yes |
 * | `day` | `LIMITS.usageDays` days (UTC) | yes | yes |
 * | `ever` | while the application is known | yes | no |
 *
 * The current period is one of those kept. Counts that are too old when they arrive are not stored. Counts of unknown names
 * are stored by `minute` and `ever` only.
 */
export type Resolution = 'minute' | 'hour' | 'day' | 'ever';

/** Registrations and reports of one reporter. */
export interface UsageBatch {
  /** Any unique text. */
  readonly id: string;
  /** When the batch arrived. Its applications and instances were seen then. */
  readonly at: number;
  readonly reporter?: Reporter;
  readonly registrations?: readonly ApplicationRegistration[];
  readonly reports?: readonly UsageReport[];
}

/** The sender of a batch. Without one, its applications belong to no token. */
export interface Reporter {
  /** The id of its API token; '' without one. */
  readonly token: string;
  /** Whether anybody can read the token, as in a browser page. */
  readonly isPublic: boolean;
}

/**
 * The evaluations of one instance of an application in one period. A report adds to the counts, moves the last-seen times of
 * its flags forward, and creates an unknown application or instance.
 */
export interface UsageReport {
  readonly application: string;
  readonly instance: InstanceSighting;
  /** End of the reported period, at most the time of the batch. The report counts in the minute that contains it. */
  readonly stop: number;
  /** The environment of the evaluations. Default: ''. */
  readonly environment?: string;
  /** A time in the hour and day in which the report counts, at most `stop`. Default: `stop`. */
  readonly hour?: number;
  /** Each flag at most once. */
  readonly counts: readonly ReportedCount[];
  /**
   * Counts of names that are not flags: each name at most once, at most `LIMITS.unknownNamesPerApplication` names. They do
   * not change a last-seen time.
   */
  readonly unknown?: readonly FlagCount[];
  /** Number of further names in the report, which the caller left out. They add to the application's `droppedNames`. */
  readonly droppedNames?: number;
}

/** An application's counts of one flag. */
export interface FlagCount {
  readonly flag: string;
  readonly yes: number;
  readonly no: number;
}

/** The counts of one flag in a report. */
export interface ReportedCount extends FlagCount {
  /** Each variant at most once. */
  readonly variants?: readonly VariantCount[];
}

/** The count of one variant. */
export interface VariantCount {
  readonly variant: string;
  readonly count: number;
}

/** An instance that sent a report or a registration. Absent members keep their stored values. */
export interface InstanceSighting {
  readonly id: string;
  /** The address of the reporter. */
  readonly clientIp?: string;
  readonly sdkVersion?: string;
}

/**
 * Creates or updates an application and its instance. Replaces the strategies. Other members that are absent keep their stored
 * values.
 */
export interface ApplicationRegistration {
  readonly application: string;
  readonly instance: InstanceSighting;
  readonly strategies: readonly string[];
  readonly description?: string;
  readonly url?: string;
  readonly color?: string | null;
  readonly icon?: string;
}

/** The numbers of items that limits have dropped. */
export interface DroppedUsage {
  /** Names that are not flags; a name counts each time it is dropped. */
  readonly names: number;
  /** Reports and registrations of applications beyond the limit. */
  readonly reports: number;
  /** Rows of counts beyond the bounds. */
  readonly usage: number;
}

/** The keys by which counts can be summed. */
export interface UsageKeys {
  readonly flag: string;
  readonly application: string;
  readonly environment: string;
  /** The start of the minute, hour or day; 0 for `ever`. */
  readonly start: number;
  /**
   * The name of a variant: the sum's `yes` counts the evaluations that returned it. '' for the counts of the flag
   * itself.
   */
  readonly variant: string;
}

/** A key by which counts are added up. */
export type UsageKey = keyof UsageKeys;

/** Selects counts, and the keys by which they are added up. */
export interface SumQuery<Key extends UsageKey = UsageKey> {
  readonly resolution: Resolution;
  /**
   * The engine sums by `flag`, by `flag` and `application`, by `application` and `flag`, and by `flag`, `application`,
   * `environment`, `start` and `variant`. Sums by `application` leave out counts without one. Sums that are not by
   * `variant` leave out the counts of variants.
   */
  readonly by: readonly Key[];
  /** Only periods that start at or after this time. Default: all. */
  readonly from?: number;
  /** Only periods that start before this time. Default: all. */
  readonly until?: number;
  readonly flag?: string;
  readonly application?: string;
  readonly environment?: string;
  /** Only groups that follow this one, which has the members of `by`. */
  readonly after?: Partial<UsageKeys>;
  /** Maximum number of groups. Default: no limit. */
  readonly limit?: number;
}

/** The sum of one group. */
export type UsageSum<Key extends UsageKey = UsageKey> = Pick<UsageKeys, Key> & Pick<FlagCount, 'yes' | 'no'>;

/** Selects applications. */
export interface ApplicationQuery {
  /** Only applications that were seen at or after this time. Default: all. */
  readonly seenSince?: number;
  /** Only applications with these names. */
  readonly names?: readonly string[];
  /** Only applications whose names are greater than this one, in code-point order. */
  readonly after?: string;
  /** Maximum number of applications. Default: no limit. */
  readonly limit?: number;
  /** Whether the answer has the instances. Default: false. */
  readonly instances?: boolean;
}

/** An application as the storage returns it. */
export interface StoredApplication {
  readonly name: string;
  readonly strategies: readonly string[];
  /** '' before a registration sets it. */
  readonly description: string;
  /** '' before a registration sets it. */
  readonly url: string;
  /** null before a registration sets it. */
  readonly color: string | null;
  /** '' before a registration sets it. */
  readonly icon: string;
  readonly createdAt: number;
  /** Time of the latest registration or report: when the instance was seen that was seen last. */
  readonly seenAt: number;
  /** Number of its unknown names that were dropped. */
  readonly droppedNames: number;
  /** By id in code-point order. Present if the query asks for it. */
  readonly instances?: readonly StoredInstance[];
}

/** An instance of an application as the storage returns it. */
export interface StoredInstance {
  readonly id: string;
  /** '' before a report or registration sets it. */
  readonly clientIp: string;
  /** '' before a report or registration sets it. */
  readonly sdkVersion: string;
  readonly createdAt: number;
  readonly seenAt: number;
}

/** The data that {@link UsageStorage.forget} deletes. */
export type UsageSubject = { readonly flags: readonly string[] } | { readonly application: string };

/** The data that {@link UsageStorage.prune} keeps. */
export interface UsageRetention {
  readonly now: number;
  /** Also deletes data last seen before a time. Default: keeps it. */
  readonly unseen?: {
    /**
     * Instances that were last seen before this time are deleted; applications without instances, with all that `forget`
     * deletes; and unknown names that were last reported before it.
     */
    readonly since: number;
    /**
     * Returns whether a flag of this name exists. Flags that do not exist and were last seen before the time are forgotten,
     * except their counts by hour and day.
     */
    readonly isFlag: (name: string) => boolean;
  };
}

/** Returns the usage of a storage; undefined if it is not one of ours. */
export function usageOf({ usage }: { readonly usage?: object }): UsageStorage | undefined {
  return usage as UsageStorage | undefined;
}
