import type {
  ApplicationRegistration,
  FlagCount,
  FlagUsage,
  MetricsStorage,
  Retention,
  StoredApplication,
  StoredApplicationDetail,
  UsageReport,
} from './port.js';

/** Counts per second and flag. */
export interface Counters {
  add(reports: readonly UsageReport[]): void;
  sumAfter(time: number): FlagCount[];
  forget(flag: string): void;
  dropUntil(time: number): void;
}

/** When each flag was last counted. */
export interface Sightings {
  add(reports: readonly UsageReport[]): void;
  of(flags: readonly string[]): Map<string, number>;
  forget(flag: string): void;
  /** Drops the names that are no flag's and were last seen before the time, and returns them. */
  dropStrangers(retention: Retention): string[];
}

/** The applications with their instances and with the flags they have evaluated. */
export interface Applications {
  add(reports: readonly UsageReport[]): void;
  register(registration: ApplicationRegistration): void;
  seenSince(time: number): StoredApplication[];
  detail(name: string): StoredApplicationDetail | undefined;
  usage(): FlagUsage[];
  forget(flag: string): void;
  dropUnseenSince(time: number): void;
}

export interface MetricsParts {
  readonly counters: Counters;
  readonly sightings: Sightings;
  readonly applications: Applications;
}

/** A metrics storage whose every call is done when it returns. */
export type SynchronousMetrics = {
  [Method in keyof MetricsStorage]: (
    ...input: Parameters<MetricsStorage[Method]>
  ) => Awaited<ReturnType<MetricsStorage[Method]>>;
};

/** What each call of the port means to the three parts, the same for every storage built of them. */
export function composeMetrics({ counters, sightings, applications }: MetricsParts): SynchronousMetrics {
  return {
    record(reports, registrations = []) {
      for (const registration of registrations) applications.register(registration);
      counters.add(reports);
      sightings.add(reports);
      applications.add(reports);
    },
    register: (registration) => applications.register(registration),
    counts: ({ after }) => counters.sumAfter(after),
    applications: ({ seenSince }) => applications.seenSince(seenSince),
    application: (name) => applications.detail(name),
    usage: () => applications.usage(),
    lastSeen: (flags) => sightings.of(flags),
    forget(flag) {
      counters.forget(flag);
      sightings.forget(flag);
      applications.forget(flag);
    },
    prune(retention) {
      counters.dropUntil(retention.countersUntil);
      applications.dropUnseenSince(retention.unseenSince);
      for (const stranger of sightings.dropStrangers(retention)) applications.forget(stranger);
    },
    close() {},
  };
}
