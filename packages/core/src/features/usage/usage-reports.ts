import { LIMITS } from '../../base/limits.js';
import { parseClientTime } from '../../base/primitives.js';
import type { Engine } from '../../kernel/engine.js';
import type {
  FlagCount,
  InstanceSighting,
  ReportedCount,
  UsageReport,
  VariantCount,
} from '../../storage/usage/port.js';
import { startOf } from '../../storage/usage/rules.js';
import { flagDocuments } from '../flags/flag.kind.js';
import type { Variant } from '../flags/variant.types.js';
import type { FlagCounts, MetricsReport, ReportOrigin } from './usage.types.js';

/** The instance of a client that does not name one. */
const DEFAULT_INSTANCE = 'default';

/** The variant that SDKs count for a flag without one. */
const NO_VARIANT = 'disabled';

const NONE: FlagCounts = { yes: 0, no: 0 };

/** The counts of a report, sorted into flags and unknown names, and the number of dropped names. */
interface SortedCounts {
  readonly counts: ReportedCount[];
  readonly unknown: FlagCount[];
  droppedNames: number;
}

type Known = Pick<Engine, 'memory' | 'settings'>;

/**
 * Converts reports for the usage storage. Separates flags from unknown names, and keeps the last unknown names. Another
 * process may have just created a flag, so the documents in memory are refreshed before a name counts as unknown.
 */
export async function toUsageReports(
  known: Known,
  reports: readonly MetricsReport[],
  { at, origin = {} }: { readonly at: number; readonly origin?: ReportOrigin | undefined },
): Promise<readonly UsageReport[]> {
  const sortAll = () => reports.map((report) => sort(known, report, origin.projects));
  let sorted = sortAll();
  if (sorted.some(({ unknown }) => unknown.length > 0)) {
    await known.memory.refresh();
    sorted = sortAll();
    keepLast(sorted);
  }
  return reports.map((report, index) =>
    toReport(report, { at, origin, environment: environmentOf(known, report, origin), ...sorted[index] }),
  );
}

function environmentOf({ settings }: Known, { environment }: MetricsReport, origin: ReportOrigin): string {
  const isKnown = (name: string | undefined) => settings.environments.some((known) => known.name === name);
  return [origin.environment, environment].find(isKnown) ?? settings.environment;
}

function sort({ memory }: Known, report: MetricsReport, projects: readonly string[] | undefined): SortedCounts {
  const flags = memory.statesOf(flagDocuments);
  const sorted: SortedCounts = { counts: [], unknown: [], droppedNames: 0 };
  for (const flag of Object.keys(report.counts)) {
    const { yes, no, variants } = report.counts[flag] ?? NONE;
    const stored = flags.get(flag);
    if (stored === undefined) sorted.unknown.push({ flag, yes, no });
    else if (projects !== undefined && !projects.includes(stored.project)) sorted.droppedNames += 1;
    else if (variants === undefined) sorted.counts.push({ flag, yes, no });
    else sorted.counts.push({ flag, yes, no, variants: variantsOf(stored.archived ? [] : stored.variants, variants) });
  }
  return sorted;
}

/** Returns the counts of a flag's variants. Any other name may be invented. */
function variantsOf(
  variants: readonly Variant[],
  counts: NonNullable<FlagCounts['variants']>,
): readonly VariantCount[] {
  const names = new Set([NO_VARIANT, ...variants.map(({ name }) => name)]);
  return Object.entries(counts).flatMap(([variant, count]) =>
    count > 0 && names.has(variant) ? { variant, count } : [],
  );
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
  readonly environment: string;
}

function toReport(
  report: MetricsReport,
  { at, origin, environment, counts = [], unknown = [], droppedNames = 0 }: ReportParts,
): UsageReport {
  const stop = Math.min(parseClientTime(report.stop) ?? at, at);
  return {
    application: report.application,
    instance: toInstance(report.instance, origin.clientIp),
    stop,
    environment,
    hour: hourOfPeriod(report, stop),
    counts,
    ...(unknown.length > 0 && { unknown }),
    ...(droppedNames > 0 && { droppedNames }),
  };
}

/** Returns the start of the hour in which a period counts. A period that ends with an hour belongs to that hour. */
export function hourOfPeriod({ start }: Pick<MetricsReport, 'start'>, stop: number): number {
  const hour = startOf('hour', stop);
  if (stop - hour >= 1) return hour;
  const begin = Math.min(parseClientTime(start) ?? stop, stop);
  return startOf('hour', Math.max(begin, stop - 1));
}

/** Returns the named instance, or the default instance. */
export function toInstance(instance: string | undefined, clientIp: string | undefined): InstanceSighting {
  return { id: instance || DEFAULT_INSTANCE, ...(clientIp !== undefined && { clientIp }) };
}
