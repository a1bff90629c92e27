import type { Reporter } from '../../storage/usage/port.js';

/** Describes an application that has started; at most 64 KiB of JSON. */
export interface ClientRegistration {
  /** The name of the application, 1–255 characters. */
  readonly application: string;
  /** The id of the started instance. Default: `default`. */
  readonly instance?: string;
  readonly sdkVersion?: string;
  /** Names of the strategies that the application implements. */
  readonly strategies: readonly string[];
  readonly description?: string;
  readonly url?: string;
  readonly color?: string | null;
  readonly icon?: string;
}

/** The evaluation counts of an application in one period. */
export interface MetricsReport {
  /** The name of the application, 1–255 characters. */
  readonly application: string;
  /** The id of the reporting instance. Default: `default`. */
  readonly instance?: string;
  /** The environment of the evaluations. The default environment when absent or unknown. */
  readonly environment?: string;
  /** The start of the period; ISO 8601, or epoch milliseconds. */
  readonly start: string | number;
  /** The end of the period, not before `start`; ISO 8601, or epoch milliseconds. A time in the future counts as now. */
  readonly stop: string | number;
  /**
   * Counts by flag name. A report may name unknown flags. Each application keeps the 100 unknown names that it has reported
   * most recently.
   */
  readonly counts: Readonly<Record<string, FlagCounts>>;
}

/** How often one flag was on and off; integers ≥ 0. */
export interface FlagCounts {
  readonly yes: number;
  readonly no: number;
  /** Counts by variant, at most 2,000. Counts variants of the flag and `disabled`, which means no variant. */
  readonly variants?: Readonly<Record<string, number>>;
}

/** Registrations and reports that a proxy has collected. Keeps the last 1,000 names of unknown flags. */
export interface BulkReport {
  /** At most 1,000, with at most 1 MiB of JSON in all. */
  readonly registrations?: readonly ClientRegistration[];
  /** At most 10,000, with at most 10,000 flags in all. */
  readonly reports?: readonly MetricsReport[];
}

/** The origin of a registration or report. */
export interface ReportOrigin {
  readonly clientIp?: string;
  /** Counts only flags of these projects, and drops the names of other flags. Default: all projects. */
  readonly projects?: readonly string[];
  /** The environment of the reporter's token. Takes precedence over that of the report. `*`: that of the report. */
  readonly environment?: string;
  /** Default: the application counts for no API token. */
  readonly reporter?: Reporter;
}

/** The origin of a bulk report. */
export interface BulkOrigin extends Omit<ReportOrigin, 'clientIp'> {
  /**
   * Makes the report safe to repeat: 1–200 characters, unique among those of its reporter. A report with the id of an earlier
   * one of the last day adds nothing that the earlier one has recorded. Send the same content with the same id.
   */
  readonly id?: string;
}

/** The flags that one application has evaluated. */
export interface SeenFlags {
  readonly application: string;
  /** Names of flags and of unknown flags, in code-point order. */
  readonly flags: readonly string[];
  /** The sum of yes and no of all flags of the application. */
  readonly evaluations: number;
}

/** How often a flag was on, and how often off. */
export interface YesNo {
  readonly yes: number;
  readonly no: number;
}

/** Counts by flag name. Both maps contain every flag reported within the last hour; counts may be zero. */
export interface EvaluationCounts {
  readonly lastHour: ReadonlyMap<string, YesNo>;
  readonly lastMinute: ReadonlyMap<string, YesNo>;
}

/** Selects usage. Absent members select all. */
export interface UsageFilter {
  readonly flag?: string;
  readonly environment?: string;
  /** The name of an application. */
  readonly application?: string;
  /** The latest hours, 1–168, the current one among them. Default 24, unless `days` is given. */
  readonly hours?: number;
  /** The latest days (UTC), 1–30, the current one among them. Not together with `hours`. */
  readonly days?: number;
}

/** How often an application evaluated a flag in one environment, in one hour or day. */
export interface UsagePeriod {
  readonly flag: string;
  readonly environment: string;
  readonly application: string;
  /** The start of the hour; ISO 8601, UTC. Present for hours only. */
  readonly hour?: string;
  /** The start of the day; ISO 8601, UTC. Present for days only. */
  readonly day?: string;
  readonly yes: number;
  readonly no: number;
  /** Counts by variant, without zeros. `disabled` means no variant. */
  readonly variants: ReadonlyMap<string, number>;
}

/** A program that evaluates flags and reports usage. */
export interface Application {
  readonly name: string;
  readonly strategies: readonly string[];
  readonly description: string;
  readonly url: string;
  readonly color: string | null;
  readonly icon: string;
  /** Time of the first registration or report; ISO 8601, UTC, milliseconds. */
  readonly createdAt: string;
  /** Time of the latest registration or report. */
  readonly updatedAt: string;
}

/** Selects applications. */
export interface ApplicationFilter {
  /** Selects applications that implement any of these strategies. Default, also for an empty list: all. */
  readonly strategies?: readonly string[];
}

/** An application with its instances and evaluated flags. */
export interface ApplicationDetail extends Application {
  readonly instances: readonly ApplicationInstance[];
  /** Names of the flags and unknown flags that the application has reported, in code-point order. */
  readonly seenFlags: readonly string[];
  /** Number of dropped names of unknown flags. Repeated drops of a name count again. Absent if none was dropped. */
  readonly droppedNames?: number;
}

/** An application that has evaluated a flag. */
export interface FlagApplication {
  readonly flag: string;
  readonly application: Application;
}

/** One instance of an application. */
export interface ApplicationInstance {
  readonly id: string;
  /** Empty if unknown. */
  readonly clientIp: string;
  /** Time of the latest registration or report; ISO 8601, UTC, milliseconds. */
  readonly lastSeenAt: string;
  /** Time of the first registration or report. */
  readonly createdAt: string;
}
