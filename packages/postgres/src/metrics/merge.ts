import type { ApplicationRegistration, ReportedCount, Reporter, UsageReport, VariantCount } from '@flags/core';
import { addVariants, boundedSum, hourOf, ownerOf } from '@flags/core/integration';
import { toStoredText } from '../tables.js';

/** SQL: `boundedSum` for an expression. */
export function bounded(sum: string): string {
  return `least(${sum}, ${Number.MAX_SAFE_INTEGER})`;
}

/** SQL: the update of a row that exists, `known`, by a new one, `excluded`. */
export const ADD_COUNT = `count = ${bounded('known.count + excluded.count')}`;
export const ADD_YES_NO = `yes = ${bounded('known.yes + excluded.yes')}, no = ${bounded('known.no + excluded.no')}`;

/** The rows of several reports, each key once. */
export interface MergedReports {
  readonly applications: readonly ApplicationRow[];
  readonly instances: readonly InstanceRow[];
  readonly usageCurrent: readonly CurrentUsageRow[];
  readonly lastSeen: readonly LastSeenRow[];
  readonly counters: readonly CounterRow[];
  readonly unknownNames: readonly UnknownNameRow[];
  readonly unknownCounters: readonly UnknownCounterRow[];
  readonly droppedNames: readonly DroppedNamesRow[];
}

export interface ApplicationRow {
  readonly name: string;
  readonly createdAt: number;
  readonly token: string | null;
  readonly isPublic: boolean;
}

export interface InstanceRow {
  readonly application: string;
  readonly id: string;
  readonly clientIp: string | null;
  readonly sdkVersion: string | null;
  readonly createdAt: number;
  readonly seenAt: number;
}

export interface UsageRow {
  readonly application: string;
  readonly flag: string;
  readonly count: number;
}

/** The counts of a flag in one hour, by application and environment. */
export interface CurrentUsageRow extends HourKey {
  readonly yes: number;
  readonly no: number;
  readonly variants: string | null;
}

interface HourKey {
  readonly application: string;
  readonly flag: string;
  readonly environment: string;
  readonly start: number;
}

export interface LastSeenRow {
  readonly flag: string;
  readonly at: number;
}

export interface CounterRow {
  readonly second: number;
  readonly flag: string;
  readonly yes: number;
  readonly no: number;
}

export type UnknownNameRow = UsageRow & { readonly rank: number };

export type UnknownCounterRow = CounterRow & { readonly application: string };

export interface DroppedNamesRow {
  readonly application: string;
  readonly dropped: number;
}

export interface MergeOptions {
  /** Other applications are not stored; their counts of flags are. */
  readonly admitted: ReadonlySet<string>;
  /** Returns the rank of an unknown name that was reported at a time. */
  readonly rank: (at: number) => number;
}

export function mergeReports(reports: readonly UsageReport[], { admitted, rank }: MergeOptions): MergedReports {
  const known = reports.filter(({ application }) => admitted.has(application));
  const counts = reports.flatMap((report) => countsOf(report, report.counts));
  const unknown = known.flatMap((report) =>
    countsOf(report, report.unknown ?? []).map((row) => ({ ...row, rank: rank(report.at) })),
  );
  return {
    applications: merge(known.map(toSeenApplication), {
      key: ({ name }) => name,
      add: (first, next) => ({ ...first, owner: ownerOf(first.owner, next.owner) }),
    }).map(toApplication),
    instances: merge(known.map(toInstance), {
      key: ({ application, id }) => keyOf(application, id),
      add: addInstance,
    }),
    usageCurrent: merge(known.flatMap(toHours), {
      key: ({ application, flag, environment, start }) => keyOf(application, flag, environment, start),
      add: addHours,
    }).map((hour) => ({ ...hour, variants: toVariantText(hour.variants) })),
    lastSeen: merge(counts, { key: ({ flag }) => flag, add: (one, other) => (one.at < other.at ? other : one) }),
    counters: merge(counts, { key: ({ second, flag }) => keyOf(second, flag), add: addCounts }),
    unknownNames: merge(unknown, {
      key: ({ application, flag }) => keyOf(application, flag),
      add: (one, next) => ({ ...addUsage(one, next), rank: next.rank }),
    }),
    unknownCounters: merge(unknown, {
      key: ({ application, flag, second }) => keyOf(application, flag, second),
      add: addCounts,
    }),
    droppedNames: merge(
      known.flatMap(({ application, droppedNames: dropped = 0 }) => (dropped > 0 ? [{ application, dropped }] : [])),
      { key: ({ application }) => application, add: (one, next) => ({ ...one, dropped: one.dropped + next.dropped }) },
    ),
  };
}

interface Merging<Row> {
  readonly key: (row: Row) => string;
  readonly add: (one: Row, next: Row) => Row;
}

function merge<Row>(rows: readonly Row[], { key, add }: Merging<Row>): Row[] {
  const merged = new Map<string, Row>();
  for (const row of rows) {
    const id = key(row);
    const before = merged.get(id);
    merged.set(id, before ? add(before, row) : row);
  }
  return [...merged.values()];
}

/** Joins texts so that no other texts give the same key. */
function keyOf(...parts: readonly (string | number)[]): string {
  return parts.reduce<string>((key, part) => `${key}${String(part).length} ${part}`, '');
}

interface SeenApplication {
  readonly name: string;
  readonly createdAt: number;
  readonly owner: Reporter | undefined;
}

function toSeenApplication({ application, at, reporter }: UsageReport): SeenApplication {
  return { name: application, createdAt: at, owner: reporter };
}

function toApplication({ name, createdAt, owner }: SeenApplication): ApplicationRow {
  return { name, createdAt, token: owner?.token ?? null, isPublic: owner?.isPublic ?? false };
}

function toInstance({ application, instance, at }: UsageReport): InstanceRow {
  const { id, clientIp, sdkVersion } = instance;
  return { application, id, clientIp: clientIp ?? null, sdkVersion: sdkVersion ?? null, createdAt: at, seenAt: at };
}

function addInstance(one: InstanceRow, next: InstanceRow): InstanceRow {
  return {
    ...one,
    clientIp: next.clientIp ?? one.clientIp,
    sdkVersion: next.sdkVersion ?? one.sdkVersion,
    seenAt: Math.max(one.seenAt, next.seenAt),
  };
}

type Hour = HourKey & ReportedCount;

function toHours(report: UsageReport): readonly Hour[] {
  const { application, environment = '', counts } = report;
  const start = hourOf(report);
  return counts.map(({ flag, yes, no, variants = NO_VARIANTS }) => {
    return { application, flag, environment, start, yes, no, variants };
  });
}

const NO_VARIANTS: readonly VariantCount[] = [];

function addHours(one: Hour, next: Hour): Hour {
  const variants = addVariants(one.variants, next.variants);
  return { ...one, yes: boundedSum(one.yes, next.yes), no: boundedSum(one.no, next.no), variants };
}

/** Serializes counts by variant as a JSON list of pairs in ASCII, which the database can parse. */
function toVariantText(variants: readonly VariantCount[] = NO_VARIANTS): string | null {
  if (variants.length === 0) return null;
  const text = JSON.stringify(variants.map(({ variant, count }) => [toStoredText(variant), count]));
  return text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

type CountRow = UsageRow & LastSeenRow & CounterRow;

/** A report is counted in the second that its period ended in, rounded up. */
function countsOf({ application, stop }: UsageReport, counts: UsageReport['counts']): CountRow[] {
  const second = Math.ceil(stop / 1000);
  return counts.map(({ flag, yes, no }) => ({
    application,
    flag,
    yes,
    no,
    second,
    at: stop,
    count: boundedSum(yes, no),
  }));
}

function addUsage<Row extends UsageRow>(one: Row, next: Row): Row {
  return { ...one, count: boundedSum(one.count, next.count) };
}

function addCounts<Row extends CounterRow>(one: Row, next: Row): Row {
  return { ...one, yes: boundedSum(one.yes, next.yes), no: boundedSum(one.no, next.no) };
}

/** The merged registrations of an application. Null leaves the stored value. */
export interface RegisteredApplication {
  readonly strategies: string | null;
  readonly description: string | null;
  readonly url: string | null;
  readonly color: string | null;
  /** False leaves the stored color; true stores `color`, also null. */
  readonly hasColor: boolean;
  readonly icon: string | null;
}

const UNREGISTERED: RegisteredApplication = {
  strategies: null,
  description: null,
  url: null,
  color: null,
  hasColor: false,
  icon: null,
};

/** For each application, in their order, the merged registrations; of several the latest counts. Empty without any. */
export function mergeRegistrations(
  applications: readonly ApplicationRow[],
  registrations: readonly ApplicationRegistration[],
): readonly RegisteredApplication[] {
  if (registrations.length === 0) return [];
  const registered = new Map<string, RegisteredApplication>();
  for (const registration of registrations) {
    const { application } = registration;
    registered.set(application, renewed(registered.get(application) ?? UNREGISTERED, registration));
  }
  return applications.map(({ name }) => registered.get(name) ?? UNREGISTERED);
}

function renewed(before: RegisteredApplication, next: ApplicationRegistration): RegisteredApplication {
  const hasColor = next.color !== undefined;
  return {
    strategies: JSON.stringify(next.strategies),
    description: next.description ?? before.description,
    url: next.url ?? before.url,
    color: hasColor ? (next.color ?? null) : before.color,
    hasColor: hasColor || before.hasColor,
    icon: next.icon ?? before.icon,
  };
}
