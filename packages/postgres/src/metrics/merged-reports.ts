import type { UsageReport } from '@flags/core';
import { boundedSum } from './bounded-sum.js';

/** What several reports write, each row once. The reports are taken in their order. */
export interface MergedReports {
  readonly applications: readonly ApplicationRow[];
  readonly instances: readonly InstanceRow[];
  readonly usage: readonly UsageRow[];
  readonly lastSeen: readonly LastSeenRow[];
  readonly counters: readonly CounterRow[];
}

export interface ApplicationRow {
  readonly name: string;
  readonly createdAt: number;
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

export function mergeReports(reports: readonly UsageReport[]): MergedReports {
  const counts = reports.flatMap(countsOf);
  return {
    applications: merge(reports.map(toApplication), { key: ({ name }) => name, add: (first) => first }),
    instances: merge(reports.map(toInstance), {
      key: ({ application, id }) => keyOf(application, id),
      add: addInstance,
    }),
    usage: merge(counts, { key: ({ application, flag }) => keyOf(application, flag), add: addUsage }),
    lastSeen: merge(counts, { key: ({ flag }) => flag, add: (one, other) => (one.at < other.at ? other : one) }),
    counters: merge(counts, { key: ({ second, flag }) => keyOf(second, flag), add: addCounts }),
  };
}

interface Merging<Row> {
  readonly key: (row: Row) => string;
  readonly add: (one: Row, next: Row) => Row;
}

function merge<Row>(rows: readonly Row[], { key, add }: Merging<Row>): Row[] {
  const merged = new Map<string, Row>();
  for (const row of rows) {
    const before = merged.get(key(row));
    merged.set(key(row), before ? add(before, row) : row);
  }
  return [...merged.values()];
}

function keyOf(...parts: readonly (string | number)[]): string {
  return JSON.stringify(parts);
}

function toApplication({ application, at }: UsageReport): ApplicationRow {
  return { name: application, createdAt: at };
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

type CountRow = UsageRow & LastSeenRow & CounterRow;

/** A report is counted in the second that its period ended in, rounded up. */
function countsOf({ application, stop, counts }: UsageReport): CountRow[] {
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

function addUsage(one: CountRow, next: CountRow): CountRow {
  return { ...one, count: boundedSum(one.count, next.count) };
}

function addCounts(one: CountRow, next: CountRow): CountRow {
  return { ...one, yes: boundedSum(one.yes, next.yes), no: boundedSum(one.no, next.no) };
}
