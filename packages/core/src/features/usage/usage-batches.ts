import type { UsageReport } from '../../storage/usage/port.js';
import type { BulkReport, ClientRegistration, FlagCounts, MetricsReport } from './usage.types.js';

/** The maximum size of a batch: a transaction of SQLite then takes some twenty milliseconds. */
export const BATCH_SIZE = 500;

/** A registration, and a report without its counts, each write several rows. */
export const REPORT_SIZE = 5;

/** Some flags of a report. */
interface Run {
  /** The index of the report. */
  readonly report: number;
  /** In the order of the report. */
  readonly flags: readonly string[];
  /** Further names of the report, which are not counted, belong to its last run. */
  readonly isLast: boolean;
  readonly size: number;
}

/** A registration, or a run. */
type Item = { readonly registration: ClientRegistration } | Run;

/** A part of a bulk report. Its reports write one batch. */
export interface BulkPart {
  readonly registrations: readonly ClientRegistration[];
  readonly runs: readonly Run[];
}

/**
 * Splits registrations and reports into parts of bounded size, in their order, the registrations first. The parts follow from
 * the input alone: a repeated report has the same parts, even if its flags were created or deleted meanwhile.
 */
export function partsOf({ registrations = [], reports = [] }: BulkReport): readonly BulkPart[] {
  const items: readonly Item[] = [
    ...registrations.map((registration) => ({ registration })),
    ...reports.flatMap(runsOf),
  ];
  return [...chunksOf(items, BATCH_SIZE, (item) => ('size' in item ? item.size : REPORT_SIZE))].map((chunk) => ({
    registrations: chunk.flatMap((item) => ('registration' in item ? [item.registration] : [])),
    runs: chunk.flatMap((item) => ('registration' in item ? [] : [item])),
  }));
}

function runsOf({ counts }: MetricsReport, report: number): readonly Run[] {
  const sizeOf = (flag: string) => sizeOfCounts(counts[flag]);
  const runs = [...chunksOf(Object.keys(counts), BATCH_SIZE - REPORT_SIZE, sizeOf)];
  if (runs.length === 0) return [{ report, flags: [], isLast: true, size: REPORT_SIZE }];
  return runs.map((flags, index) => ({
    report,
    flags,
    isLast: index === runs.length - 1,
    size: flags.reduce((sum, flag) => sum + sizeOf(flag), REPORT_SIZE),
  }));
}

function sizeOfCounts(counts: FlagCounts | undefined): number {
  return 1 + Object.keys(counts?.variants ?? {}).length;
}

/** Returns the part of a report that has these flags. */
export function inRun(report: UsageReport, { flags, isLast }: Run): UsageReport {
  const named = new Set(flags);
  const { counts, unknown, droppedNames, ...about } = report;
  const unknownHere = (unknown ?? []).filter(({ flag }) => named.has(flag));
  return {
    ...about,
    counts: counts.filter(({ flag }) => named.has(flag)),
    ...(unknownHere.length > 0 && { unknown: unknownHere }),
    ...(isLast && droppedNames !== undefined && { droppedNames }),
  };
}

/** Splits a list into runs of bounded size: at least one item each. */
export function* chunksOf<Item>(
  items: readonly Item[],
  bound: number,
  sizeOf: (item: Item) => number,
): Generator<readonly Item[]> {
  let start = 0;
  let size = 0;
  for (const [index, item] of items.entries()) {
    const added = sizeOf(item);
    if (index > start && size + added > bound) {
      yield items.slice(start, index);
      start = index;
      size = 0;
    }
    size += added;
  }
  if (start < items.length) yield items.slice(start);
}
