import type { ApplicationRegistration, ReportedCount, UsageReport } from '../storage/metrics-port.js';

/** What one call of the metrics storage records. */
interface ReportPart {
  readonly reports: readonly UsageReport[];
  readonly registrations: readonly ApplicationRegistration[];
}

/** The most that one part has: a transaction of SQLite then takes some twenty milliseconds. */
const PART_SIZE = 500;
/** A registration, and a report without its counts, each write several rows. */
const REPORT_SIZE = 5;

/**
 * Splits registrations and reports into parts of bounded size, in their order, the registrations first. A report of many
 * flags becomes several reports; its unknown names stay with the last of them.
 */
export function* partsOf(
  reports: readonly UsageReport[],
  registrations: readonly ApplicationRegistration[] = [],
): Generator<ReportPart> {
  let total = 0;
  for (const one of registrations) total += sizeOf(one);
  for (const one of reports) total += sizeOf(one);
  if (total <= PART_SIZE) return yield* total === 0 ? [] : [{ reports, registrations }];
  let part = { reports: [] as UsageReport[], registrations: [] as ApplicationRegistration[] };
  let size = 0;
  for (const one of [...registrations, ...reports.flatMap(splitReport)]) {
    const added = sizeOf(one);
    if (size > 0 && size + added > PART_SIZE) {
      yield part;
      part = { reports: [], registrations: [] };
      size = 0;
    }
    if ('counts' in one) part.reports.push(one);
    else part.registrations.push(one);
    size += added;
  }
  if (size > 0) yield part;
}

function splitReport(report: UsageReport): readonly UsageReport[] {
  const { unknown, droppedNames, ...first } = report;
  const runs = [...runsOf(report.counts)];
  const last = runs.pop();
  if (last === undefined || runs.length === 0) return [report];
  return [...runs.map((counts) => ({ ...first, counts })), { ...report, counts: last }];
}

/** Splits counts into runs of bounded size: at least one count each. */
export function* runsOf<Count extends ReportedCount>(counts: readonly Count[]): Generator<readonly Count[]> {
  let start = 0;
  let size = 0;
  for (const [index, count] of counts.entries()) {
    const added = sizeOfCount(count);
    if (index > start && size + added > PART_SIZE - REPORT_SIZE) {
      yield counts.slice(start, index);
      start = index;
      size = 0;
    }
    size += added;
  }
  if (start < counts.length) yield counts.slice(start);
}

function sizeOf(one: UsageReport | ApplicationRegistration): number {
  if (!('counts' in one)) return REPORT_SIZE;
  return one.counts.reduce((sum, count) => sum + sizeOfCount(count), REPORT_SIZE + (one.unknown?.length ?? 0));
}

function sizeOfCount({ variants }: ReportedCount): number {
  return 1 + (variants?.length ?? 0);
}
