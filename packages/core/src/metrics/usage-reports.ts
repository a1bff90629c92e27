import type { Engine } from '../changes/engine.js';
import type { FlagCount, InstanceSighting, UsageReport } from '../storage/metrics-port.js';
import { LIMITS } from '../validation/limits.js';
import { parseClientTime } from '../validation/primitives.js';
import type { MetricsReport, ReportOrigin } from './metrics.types.js';

/** The instance of a client that does not name one. */
const DEFAULT_INSTANCE = 'default';

const NONE = { yes: 0, no: 0 };

/** The counts of a report, sorted into flags and unknown names, and the number of dropped names. */
interface SortedCounts {
  readonly counts: FlagCount[];
  readonly unknown: FlagCount[];
  droppedNames: number;
}

/**
 * Returns a function that converts reports for the metrics storage. It separates flags from unknown names, and keeps
 * the last unknown names. Another process may have just created a flag, so the function refreshes the replica before a
 * name counts as unknown.
 */
export function createReportConverter({ replica }: Pick<Engine, 'replica'>) {
  const { projectOf } = replica.documents;

  function sort({ toggles }: MetricsReport['bucket'], projects: readonly string[] | undefined): SortedCounts {
    const sorted: SortedCounts = { counts: [], unknown: [], droppedNames: 0 };
    for (const flag of Object.keys(toggles)) {
      const { yes, no } = toggles[flag] ?? NONE;
      const project = projectOf(flag);
      if (project === undefined) sorted.unknown.push({ flag, yes, no });
      else if (projects === undefined || projects.includes(project)) sorted.counts.push({ flag, yes, no });
      else sorted.droppedNames += 1;
    }
    return sorted;
  }

  return async (reports: readonly MetricsReport[], at: number, origin: ReportOrigin = {}): Promise<UsageReport[]> => {
    const sortAll = () => reports.map(({ bucket }) => sort(bucket, origin.projects));
    let sorted = sortAll();
    if (sorted.some(({ unknown }) => unknown.length > 0)) {
      await replica.poller.refresh();
      sorted = sortAll();
      keepLast(sorted);
    }
    return reports.map((report, index) => toReport(report, { at, origin, ...sorted[index] }));
  };
}

/** Drops the first unknown names beyond the limits of an application and a batch. */
function keepLast(reports: readonly SortedCounts[]): void {
  let room: number = LIMITS.unknownNamesPerBatch;
  for (const report of reports.toReversed()) {
    const kept = Math.min(room, report.unknown.length, LIMITS.unknownNamesPerApplication);
    const excess = report.unknown.length - kept;
    report.unknown.splice(0, excess);
    report.droppedNames += excess;
    room -= kept;
  }
}

interface ReportParts extends Partial<SortedCounts> {
  readonly at: number;
  readonly origin: ReportOrigin;
}

function toReport(
  { appName, bucket, ...client }: MetricsReport,
  { at, origin, counts = [], unknown = [], droppedNames = 0 }: ReportParts,
): UsageReport {
  return {
    application: appName,
    instance: toInstance(client, origin.clientIp),
    at,
    stop: Math.min(parseClientTime(bucket.stop) ?? at, at),
    counts,
    ...(unknown.length > 0 && { unknown }),
    ...(droppedNames > 0 && { droppedNames }),
  };
}

/** Returns the instance that a client names, or the default instance. */
export function toInstance(
  { instanceId, sdkVersion }: { readonly instanceId?: string; readonly sdkVersion?: string },
  clientIp: string | undefined,
): InstanceSighting {
  return {
    id: instanceId || DEFAULT_INSTANCE,
    ...(clientIp !== undefined && { clientIp }),
    ...(sdkVersion !== undefined && { sdkVersion }),
  };
}
