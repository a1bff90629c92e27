import { randomInt, randomUUID } from 'node:crypto';
import type { ApplicationRegistration, DroppedMetrics, UsageReport } from '@flags/core';
import type { Database } from '../database.js';
import { type TableNames, toStoredText } from '../tables.js';
import { bumpVersionShard } from '../version-shards.js';
import { type Admission, createRanks } from './admission.js';
import { columns, registeredApplications, seenApplications } from './applications.js';
import {
  bounded,
  type MergedReports,
  mergeRegistrations,
  mergeReports,
  type RegisteredApplication,
} from './merged-reports.js';
import type { MetricsLock } from './metrics-lock.js';
import type { Trimming } from './trimming.js';
import { unknownColumns, unknownExpressions } from './unknown-names.js';

const REGISTERED = [
  'strategies',
  'description',
  'url',
  'color',
  'hasColor',
  'icon',
] as const satisfies readonly (keyof RegisteredApplication)[];

/** More nodes than this share shards: some wait for others' commits, and nothing else changes. */
const SHARDS = 16;

/**
 * Adds reports up in one statement: all of them, or none. The rows of every table are taken in the order of their keys,
 * and the tables in one order too, so that writers wait for each other in a row and never in a circle.
 *
 * Limits are kept before and after it: applications are admitted, and what is too much is dropped.
 */
export function recording({ database, names, lock, admission, trimming }: RecordingParts & Limiting) {
  const plain = recordStatements({ names, lock, applications: seenApplications(names), parameters: 20 });
  const registering = recordStatements({ names, lock, applications: registeredApplications(names), parameters: 26 });
  const shard = randomInt(SHARDS);
  const rank = createRanks();

  /** Gives what was not taken. */
  async function write(
    reports: readonly UsageReport[],
    registrations: readonly ApplicationRegistration[] = [],
  ): Promise<DroppedMetrics> {
    const signs = registrations.map((registration) => ({ ...registration, stop: registration.at, counts: [] }));
    const all = [...signs, ...reports];
    const admitted = await admission.admit(all.map(({ application }) => application));
    const merged = mergeReports(all, { admitted, rank });
    const at = all.reduce((latest, sighting) => Math.max(latest, sighting.at), 0);
    const applications = mergeRegistrations(merged.applications, registrations);
    const unknown = unknownColumns(merged);
    const { text, withUnknown } = registrations.length > 0 ? registering : plain;
    await database.write({
      text: unknown.isEmpty ? text : withUnknown,
      values: [
        ...[randomUUID(), at, shard],
        ...columnsOf(merged),
        ...(registrations.length > 0 ? columns(applications, REGISTERED) : []),
        ...(unknown.isEmpty ? [] : unknown.values),
      ],
    });
    const trimmed = await trimming.trim(merged);
    const dropped = merged.droppedNames.reduce((sum, row) => sum + row.dropped, trimmed);
    return { names: dropped, reports: all.filter(({ application }) => !admitted.has(application)).length };
  }

  return { record: write };
}

export interface RecordingParts {
  readonly database: Database;
  readonly names: TableNames;
  readonly lock: MetricsLock;
}

/** What keeps the tables within limits. */
export interface Limiting {
  readonly admission: Admission;
  readonly trimming: Trimming;
}

interface StatementParts {
  readonly names: TableNames;
  readonly lock: MetricsLock;
  /** The table expressions that write the applications. */
  readonly applications: string;
  /** How many parameters the statement has without those for unknown names. */
  readonly parameters: number;
}

/** The statement without unknown names, and with some. */
function recordStatements(parts: StatementParts) {
  const { names, parameters } = parts;
  return {
    text: `${recordStatement(parts)}\n${bumpVersionShard(names, ['counters'])}`,
    withUnknown: `${recordStatement(parts)},
${unknownExpressions(names, parameters + 1)}
${bumpVersionShard(names, ['counters', 'unknown_counters', 'dropped_names'])}`,
  };
}

function recordStatement({ names, lock, applications }: StatementParts): string {
  const { table } = names;
  return `
WITH ${lock.shared},
writing AS (
  INSERT INTO ${table('metrics_writes')} (id, at) SELECT $1::uuid, $2::bigint FROM metrics_lock
  ON CONFLICT (id) DO NOTHING RETURNING 1
),
${applications},
instances AS (
  INSERT INTO ${table('instances')} AS known (application, id, client_ip, sdk_version, created_at, seen_at)
  SELECT application, id, client_ip, sdk_version, created_at, seen_at
  FROM writing, unnest($6::text[], $7::text[], $8::text[], $9::text[], $10::bigint[], $11::bigint[])
    AS given (application, id, client_ip, sdk_version, created_at, seen_at)
  WHERE (SELECT count(*) FROM applications) >= 0
  ORDER BY application COLLATE "C", id COLLATE "C"
  ON CONFLICT (application, id) DO UPDATE SET
    client_ip = coalesce(excluded.client_ip, known.client_ip),
    sdk_version = coalesce(excluded.sdk_version, known.sdk_version),
    seen_at = greatest(known.seen_at, excluded.seen_at)
  RETURNING 1
),
usage AS (
  INSERT INTO ${table('usage')} AS known (application, flag, shard, count)
  SELECT application, flag, $3::smallint, count
  FROM writing, unnest($12::text[], $13::text[], $14::bigint[]) AS given (application, flag, count)
  WHERE (SELECT count(*) FROM instances) >= 0
  ORDER BY application COLLATE "C", flag COLLATE "C"
  ON CONFLICT (application, flag, shard) DO UPDATE SET count = ${bounded('known.count + excluded.count')}
  RETURNING 1
),
last_seen AS (
  INSERT INTO ${table('last_seen')} AS known (flag, shard, at)
  SELECT flag, $3::smallint, at
  FROM writing, unnest($15::text[], $16::bigint[]) AS given (flag, at)
  WHERE (SELECT count(*) FROM usage) >= 0
  ORDER BY flag COLLATE "C"
  ON CONFLICT (flag, shard) DO UPDATE SET at = excluded.at WHERE known.at < excluded.at
  RETURNING 1
),
counters AS (
  INSERT INTO ${table('counters')} AS known (second, flag, shard, yes, no)
  SELECT second, flag, $3::smallint, yes, no
  FROM writing, unnest($17::bigint[], $18::text[], $19::bigint[], $20::bigint[]) AS given (second, flag, yes, no)
  WHERE (SELECT count(*) FROM last_seen) >= 0
  ORDER BY second, flag COLLATE "C"
  ON CONFLICT (second, flag, shard) DO UPDATE SET
    yes = ${bounded('known.yes + excluded.yes')}, no = ${bounded('known.no + excluded.no')}
  RETURNING 1
)`;
}

function columnsOf({ applications, instances, usage, lastSeen, counters }: MergedReports): unknown[][] {
  return [
    ...columns(applications, ['name', 'createdAt']),
    ...columns(instances, ['application', 'id', 'clientIp', 'sdkVersion', 'createdAt', 'seenAt']),
    ...columns(usage, ['application', 'flag', 'count']),
    ...columns(lastSeen, ['flag', 'at']),
    ...columns(counters, ['second', 'flag', 'yes', 'no']),
  ];
}

/** Creates or renews an application and its instance in one statement, which may be carried out twice. */
export function registering({ database, names, lock, admission, trimming }: RecordingParts & Limiting) {
  const text = registerStatement(names, lock);
  return async (registration: ApplicationRegistration): Promise<DroppedMetrics> => {
    const { application, instance, at } = registration;
    if (!(await admission.admit([application])).has(application)) return { names: 0, reports: 1 };
    await database.write({ text, values: valuesOf(registration) });
    const row = { application, id: instance.id, clientIp: null, sdkVersion: null, createdAt: at, seenAt: at };
    await trimming.trim({ instances: [row], unknownNames: [] });
    return { names: 0, reports: 0 };
  };
}

function registerStatement(names: RecordingParts['names'], lock: MetricsLock): string {
  const { table } = names;
  return `
WITH ${lock.shared},
applications AS (
  INSERT INTO ${table('applications')} AS known (name, strategies, description, url, color, icon, created_at)
  SELECT $1, $2, coalesce($3, ''), coalesce($4, ''), $5, coalesce($6, ''), $7::bigint FROM metrics_lock
  ON CONFLICT (name) DO UPDATE SET
    strategies = $2,
    description = coalesce($3, known.description),
    url = coalesce($4, known.url),
    color = CASE WHEN $8::boolean THEN known.color ELSE $5 END,
    icon = coalesce($6, known.icon)
  RETURNING name
),
instances AS (
  INSERT INTO ${table('instances')} AS known (application, id, client_ip, sdk_version, created_at, seen_at)
  SELECT name, $9, $10, $11, $7::bigint, $7::bigint FROM applications
  ON CONFLICT (application, id) DO UPDATE SET
    client_ip = coalesce(excluded.client_ip, known.client_ip),
    sdk_version = coalesce(excluded.sdk_version, known.sdk_version),
    seen_at = greatest(known.seen_at, excluded.seen_at)
  RETURNING 1
)
${bumpVersionShard(names, ['instances'])}`;
}

function valuesOf({ instance, at, strategies, color, ...texts }: ApplicationRegistration): unknown[] {
  return [
    toStoredText(texts.application),
    toStoredText(JSON.stringify(strategies)),
    storedOrNull(texts.description),
    storedOrNull(texts.url),
    storedOrNull(color),
    storedOrNull(texts.icon),
    at,
    color === undefined,
    toStoredText(instance.id),
    storedOrNull(instance.clientIp),
    storedOrNull(instance.sdkVersion),
  ];
}

function storedOrNull(text: string | null | undefined): string | null {
  return text === undefined || text === null ? null : toStoredText(text);
}
