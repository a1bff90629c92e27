import { LIMITS } from '../../base/limits.js';
import type { DroppedUsage, FlagCount, Resolution, UsageBatch, UsageReport } from './port.js';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** The length of a period, how many are kept with the current one, and the code that databases store; 0 was by second. */
export const RESOLUTIONS = {
  minute: { code: 1, length: MINUTE, kept: 61 },
  hour: { code: 2, length: HOUR, kept: LIMITS.usageHours },
  day: { code: 3, length: DAY, kept: LIMITS.usageDays },
  ever: { code: 4, length: Number.POSITIVE_INFINITY, kept: 1 },
} as const satisfies Record<Resolution, { code: number; length: number; kept: number }>;

/** Returns the start of the period that a time is in; 0 for `ever`. */
export function startOf(resolution: Resolution, time: number): number {
  return resolution === 'ever' ? 0 : time - (time % RESOLUTIONS[resolution].length);
}

/** Returns the start of the oldest period that is kept; 0 for `ever`. */
export function firstKept(resolution: Resolution, now: number): number {
  const { length, kept } = RESOLUTIONS[resolution];
  return resolution === 'ever' ? 0 : startOf(resolution, now) - (kept - 1) * length;
}

/** Returns the sum of two counts, at most the largest safe integer, so that no report makes later ones fail. */
export function boundedSum(one: number, other: number): number {
  return Math.min(one + other, Number.MAX_SAFE_INTEGER);
}

/** A stored count. The members before `yes` are its key. */
export interface CountRow {
  readonly resolution: Resolution;
  readonly flag: string;
  /** '' by minute, except for unknown names: these are counted by application throughout. */
  readonly application: string;
  /** '' except by hour and day. */
  readonly environment: string;
  /** '' for the counts of the flag itself. */
  readonly variant: string;
  readonly start: number;
  yes: number;
  no: number;
  /** The latest time of a batch that counted here. */
  at: number;
  /** Whether only public reporters counted here. */
  isPublic: boolean;
  /** Whether all batches counted it as an unknown name. */
  isUnknown: boolean;
}

/** The sightings of an instance in a batch. */
export interface InstanceRow {
  readonly application: string;
  readonly id: string;
  /** null keeps the stored address; '' if there is none. */
  clientIp: string | null;
  /** null keeps the stored version; '' if there is none. */
  sdkVersion: string | null;
}

/** The rows that a batch adds to. */
export interface UsageRows {
  /** Several reports may add to the same key. */
  readonly counts: readonly CountRow[];
  /** The latest `stop` by flag. */
  readonly lastSeen: ReadonlyMap<string, number>;
  readonly instances: readonly InstanceRow[];
  /** Names that the caller has left out, by application. */
  readonly droppedNames: ReadonlyMap<string, number>;
}

/** Returns the rows of a batch. For an application that is not admitted, it counts only flags, without the application. */
export function rowsOf(batch: UsageBatch, admitted: ReadonlySet<string>): UsageRows {
  const { registrations = [], reports = [] } = batch;
  const counts: CountRow[] = [];
  const lastSeen = new Map<string, number>();
  const instances = new Map<string, InstanceRow>();
  const droppedNames = new Map<string, number>();

  for (const { application, instance } of [...registrations, ...reports]) {
    if (!admitted.has(application)) continue;
    const key = JSON.stringify([application, instance.id]);
    const { clientIp = null, sdkVersion = null } = instances.get(key) ?? {};
    instances.set(key, {
      application,
      id: instance.id,
      clientIp: instance.clientIp ?? clientIp,
      sdkVersion: instance.sdkVersion ?? sdkVersion,
    });
  }
  for (const report of reports) {
    for (const { flag } of report.counts) lastSeen.set(flag, Math.max(lastSeen.get(flag) ?? 0, report.stop));
    const isAdmitted = admitted.has(report.application);
    for (const row of countsOf(report, batch, isAdmitted ? 'by application' : 'of flags')) counts.push(row);
    const { application, droppedNames: dropped = 0 } = report;
    if (dropped > 0 && isAdmitted) {
      droppedNames.set(application, (droppedNames.get(application) ?? 0) + dropped);
    }
  }
  return { counts, lastSeen, instances: [...instances.values()], droppedNames };
}

/** Returns the rows of a report, without periods that are no longer kept. */
function countsOf(
  report: UsageReport,
  { at, reporter }: UsageBatch,
  extent: 'by application' | 'of flags',
): CountRow[] {
  const { application, environment = '', stop, hour = stop, counts, unknown = [] } = report;
  const isPublic = reporter?.isPublic ?? false;
  const keptPeriods = (resolutions: readonly Resolution[], time: number) =>
    resolutions
      .map((resolution) => ({ resolution, start: startOf(resolution, time) }))
      .filter(({ resolution, start }) => start >= firstKept(resolution, at));
  const recent = keptPeriods(['minute'], stop);
  const periods = keptPeriods(['hour', 'day'], hour);
  const ever = { resolution: 'ever', start: 0 } as const;
  const rows: CountRow[] = [];

  function add(
    { resolution, start }: Pick<CountRow, 'resolution' | 'start'>,
    { flag, yes, no }: FlagCount,
    place: Partial<CountRow> = {},
  ): void {
    const { application = '', environment = '', variant = '', isUnknown = false } = place;
    rows.push({ resolution, flag, application, environment, variant, start, yes, no, at, isPublic, isUnknown });
  }

  for (const count of counts) {
    for (const period of recent) add(period, count);
    if (extent === 'of flags') continue;
    add(ever, count, { application });
    for (const period of periods) {
      add(period, count, { application, environment });
      for (const { variant, count: yes } of count.variants ?? []) {
        add(period, { flag: count.flag, yes, no: 0 }, { application, environment, variant });
      }
    }
  }
  if (extent === 'of flags') return rows;
  for (const count of unknown) {
    for (const period of [...recent, ever]) add(period, count, { application, isUnknown: true });
  }
  return rows;
}

/** Returns the key of a count in a map. The lengths mark the ends of its names. */
function keyOf({ resolution, flag, application, environment, variant, start }: CountRow): string {
  const lengths = `${flag.length} ${application.length} ${environment.length}`;
  return `${resolution} ${start} ${lengths} ${flag}${application}${environment}${variant}`;
}

/** Adds a count to the one with the same key. Adds the row itself if there is none. */
export function addCount(counts: Map<string, CountRow>, row: CountRow): void {
  const key = keyOf(row);
  const known = counts.get(key);
  if (known === undefined) counts.set(key, row);
  else mergeCount(known, row);
}

type Counted = Pick<CountRow, 'yes' | 'no' | 'at' | 'isPublic' | 'isUnknown'>;

export function mergeCount(known: Counted, row: Counted): void {
  known.yes = boundedSum(known.yes, row.yes);
  known.no = boundedSum(known.no, row.no);
  known.at = Math.max(known.at, row.at);
  known.isPublic &&= row.isPublic;
  known.isUnknown &&= row.isUnknown;
}

/** The stored data about the applications of a batch. */
export interface AdmissionState {
  /** The applications of the batch that the storage has. */
  readonly stored: ReadonlySet<string>;
  /** Number of all stored applications. */
  readonly total: number;
  /** Number of stored applications that belong to the reporter's token. */
  readonly owned: number;
}

/** The applications of a batch to store. */
export interface Admission {
  /** The applications whose reports and registrations are stored. */
  readonly admitted: ReadonlySet<string>;
  /** The applications to create for the reporter. */
  readonly created: readonly string[];
  /** Number of refused registrations and reports. */
  readonly refused: number;
}

/** Returns the names of a batch's applications, each once. */
export function applicationsOf({ registrations = [], reports = [] }: UsageBatch): readonly string[] {
  return [...new Set([...registrations, ...reports].map(({ application }) => application))];
}

/** Decides which applications may be stored: known ones, and further ones while there is room. */
export function decideAdmission(batch: UsageBatch, { stored, total, owned }: AdmissionState): Admission {
  const { reporter, registrations = [], reports = [] } = batch;
  const names = applicationsOf(batch);
  const room = Math.max(0, Math.min(LIMITS.applications - total, limitOf(reporter) - owned));
  const created = names.filter((name) => !stored.has(name)).slice(0, room);
  const admitted = new Set([...names.filter((name) => stored.has(name)), ...created]);
  const refused = [...registrations, ...reports].filter(({ application }) => !admitted.has(application)).length;
  return { admitted, created, refused };
}

/** Returns how many applications may belong to a reporter. */
function limitOf(reporter: UsageBatch['reporter']): number {
  if (reporter === undefined) return LIMITS.applications;
  return reporter.isPublic ? LIMITS.applicationsPerFrontendToken : LIMITS.applicationsPerToken;
}

/** Bounds of the rows that `prune` enforces. `names` are unknown names, `pairs` the other rows of resolution `ever`. */
export interface UsageBounds {
  readonly hours: number;
  readonly days: number;
  readonly pairs: number;
  readonly names: number;
}

export const DATABASE_BOUNDS: UsageBounds = {
  hours: LIMITS.usageHourRows,
  days: LIMITS.usageDayRows,
  pairs: LIMITS.usagePairs,
  names: LIMITS.unknownNames,
};

/**
 * Plans the deletion of excess rows, after those of public reporters: always the oldest rows of the application that
 * has the most, at most `slice` at a time.
 *
 * @param sizes the number of rows by application; changed
 */
export function* largestFirst(
  sizes: Map<string, number>,
  { excess, slice }: { readonly excess: number; readonly slice: number },
): Iterable<{ readonly application: string; readonly rows: number }> {
  for (let left = excess; left > 0; ) {
    let [largest, size] = ['', 0];
    for (const [application, rows] of sizes) if (rows > size) [largest, size] = [application, rows];
    const rows = Math.min(left, slice, size);
    if (rows === 0) return;
    yield { application: largest, rows };
    sizes.set(largest, size - rows);
    left -= rows;
  }
}

/** Returns the sum of the numbers that several calls dropped. */
export function addDropped(one: DroppedUsage, other: DroppedUsage): DroppedUsage {
  return {
    names: one.names + other.names,
    reports: one.reports + other.reports,
    usage: one.usage + other.usage,
  };
}

export const NOTHING_DROPPED: DroppedUsage = { names: 0, reports: 0, usage: 0 };
