import type { ApplicationRef, Page, PageQuery } from '../common.types.js';

/** What a client tells when it starts; at most 64 KiB of JSON. */
export interface ClientRegistration {
  /** 1–255 characters. */
  readonly appName: string;
  /** `default` when absent. */
  readonly instanceId?: string;
  readonly sdkVersion?: string;
  /** Names of the strategies it implements. */
  readonly strategies: readonly string[];
  /** ISO 8601, or epoch milliseconds. */
  readonly started: string | number;
  /** How often it reports, in milliseconds. */
  readonly interval: number;
  readonly description?: string;
  readonly url?: string;
  readonly color?: string | null;
  readonly icon?: string;
}

/** How often flags were evaluated in a period. */
export interface MetricsReport {
  readonly appName: string;
  /** `default` when absent. */
  readonly instanceId?: string;
  readonly bucket: {
    /** ISO 8601, or epoch milliseconds. */
    readonly start: string | number;
    /** ISO 8601, or epoch milliseconds; not before `start`. A later time than now counts as now. */
    readonly stop: string | number;
    /**
     * By flag name; counts are integers ≥ 0. Names of flags that do not exist are accepted: an application keeps the 100
     * that it has reported most recently.
     */
    readonly toggles: Readonly<Record<string, FlagCounts>>;
  };
}

export interface FlagCounts {
  readonly yes: number;
  readonly no: number;
  readonly variants?: Readonly<Record<string, number>>;
}

/** What a proxy has gathered from its clients. Of unknown flags the last 1,000 names are kept. */
export interface BulkReport {
  /** At most 1,000, with at most 1 MiB of JSON in all. */
  readonly registrations?: readonly ClientRegistration[];
  /** At most 10,000, with at most 10,000 flags in all. */
  readonly reports?: readonly MetricsReport[];
}

/** Where a report came from. */
export interface ReportOrigin {
  readonly clientIp?: string;
  /** Counts only flags of these projects, and drops the names of other flags; all when absent. */
  readonly projects?: readonly string[];
}

export interface SeenFlags {
  readonly appName: string;
  /** Names of flags and of unknown flags, in code-point order. */
  readonly flags: readonly string[];
  /** Σ yes + no over all its flags. */
  readonly metricsCount: number;
}

export interface YesNo {
  readonly yes: number;
  readonly no: number;
}

/** Counts by flag name. Every flag reported within the hour is in both maps, with zeros where nothing fell in. */
export interface EvaluationCounts {
  readonly lastHour: ReadonlyMap<string, YesNo>;
  readonly lastMinute: ReadonlyMap<string, YesNo>;
}

export interface Application {
  readonly appName: string;
  readonly strategies: readonly string[];
  readonly description: string;
  readonly url: string;
  readonly color: string | null;
  readonly icon: string;
  /** ISO 8601, UTC, milliseconds: first and latest registration or report. */
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface ApplicationFilter {
  /** Only applications that implement any of these; all when absent or empty. */
  readonly strategies?: readonly string[];
}

export interface ApplicationDetail extends Application {
  readonly instances: readonly ApplicationInstance[];
  /** Names of the flags it has evaluated, and of unknown flags that it has reported, in code-point order. */
  readonly seenFlags: readonly string[];
  /** How many names of unknown flags were dropped, each time counted; absent when none was. */
  readonly droppedNames?: number;
}

/** An application that has evaluated a flag. */
export interface FlagApplication {
  readonly flag: string;
  readonly application: Application;
}

export interface ApplicationInstance {
  readonly instanceId: string;
  /** '' when unknown. */
  readonly clientIp: string;
  readonly lastSeen: string;
  readonly createdAt: string;
}

export interface MetricsOperations {
  /**
   * Takes a client's registration. Simultaneous registrations all count; the application's strategies are the latest's.
   * At most 10,000 applications are kept: a further one is not stored, and counted in `status().dropped`. Of an
   * application's instances the 1,000 seen most recently are kept.
   *
   * @throws FlagsError `invalid_input`
   * @example
   * await flags.registerApplication({
   *   appName: 'web', instanceId: 'web-1', strategies: ['default'], started: new Date().toISOString(), interval: 60_000,
   * });
   */
  registerApplication(registration: ClientRegistration, origin?: ReportOrigin): Promise<void>;

  /**
   * Takes a client's counts, whole or not at all. Simultaneous reports all count. Flags that do not exist and
   * applications that never registered are accepted, within the limits of {@link registerApplication} and
   * {@link MetricsReport}; of an application beyond them only the counts of flags are taken.
   *
   * @throws FlagsError `invalid_input`
   * @example
   * await flags.reportMetrics({
   *   appName: 'web',
   *   bucket: { start: '2026-01-01T10:00:00Z', stop: '2026-01-01T10:01:00Z', toggles: { checkout: { yes: 8, no: 2 } } },
   * });
   */
  reportMetrics(report: MetricsReport, origin?: ReportOrigin): Promise<void>;

  /**
   * Takes registrations and counts of many clients, all of them or none: what was refused, or failed with another code
   * than `outcome_unknown`, may be sent again. The registrations come first, then the reports, each in their order.
   *
   * @throws FlagsError `invalid_input`
   * @example
   * const [start, stop] = ['2026-01-01T10:00:00Z', '2026-01-01T10:01:00Z'];
   * await flags.reportMetricsInBulk({
   *   reports: [
   *     { appName: 'web', bucket: { start, stop, toggles: { checkout: { yes: 8, no: 2 } } } },
   *     { appName: 'shop', bucket: { start, stop, toggles: { checkout: { yes: 1, no: 0 } } } },
   *   ],
   * });
   */
  reportMetricsInBulk(bulk: BulkReport, origin?: Pick<ReportOrigin, 'projects'>): Promise<void>;

  /**
   * Which application has evaluated which flags; at least those reported within the last hour. By application name.
   *
   * @example
   * for (const { appName, metricsCount } of await flags.listSeenFlags()) console.log(appName, metricsCount);
   */
  listSeenFlags(): Promise<readonly SeenFlags[]>;
  /** Returns one page, of at most 1 MiB. */
  listSeenFlags(page: PageQuery): Promise<Page<SeenFlags>>;

  /**
   * How often each flag was on and off in the last minute and the last hour, by the reported periods' ends. The windows
   * slide with the clock, at a resolution of one second.
   *
   * @example
   * const { yes, no } = (await flags.countEvaluations()).lastHour.get('checkout') ?? { yes: 0, no: 0 };
   */
  countEvaluations(): Promise<EvaluationCounts>;

  /**
   * Applications seen within the last day, by name; with `strategies`, those that implement any of them. The whole list
   * is in memory, up to 64 KiB for each application: pass a page to read it in parts.
   *
   * @example
   * const apps = await flags.listApplications({ strategies: ['flexibleRollout'] });
   */
  listApplications(filter?: ApplicationFilter): Promise<readonly Application[]>;
  /** Returns one page, of at most 1 MiB. */
  listApplications(filter: ApplicationFilter, page: PageQuery): Promise<Page<Application>>;

  /**
   * One application with its instances and the flags it has evaluated.
   *
   * @throws FlagsError `application_not_found`
   * @example
   * const { instances } = await flags.getApplication({ application: 'web' });
   */
  getApplication(ref: ApplicationRef): Promise<ApplicationDetail>;

  /**
   * Forgets an application with its instances and what it has evaluated; the counts of flags stay. One that registers or
   * reports again begins anew.
   *
   * @throws FlagsError `application_not_found`
   * @example
   * await flags.deleteApplication({ application: 'web' });
   */
  deleteApplication(ref: ApplicationRef): Promise<void>;

  /**
   * The applications that have evaluated each flag, by flag name in code-point order. All of it is in memory:
   * pass a page to read it in parts.
   *
   * @example
   * const users = (await flags.listApplicationsByFlag()).get('checkout') ?? [];
   */
  listApplicationsByFlag(): Promise<ReadonlyMap<string, readonly Application[]>>;
  /** Returns one page of pairs, by flag, then application, in code-point order; at most 1 MiB. */
  listApplicationsByFlag(page: PageQuery): Promise<Page<FlagApplication>>;
}
