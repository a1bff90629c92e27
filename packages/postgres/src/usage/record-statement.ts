import {
  type Admission,
  type ApplicationRegistration,
  addCount,
  type CountRow,
  type InstanceRow,
  RESOLUTIONS,
  rowsOf,
  type UsageBatch,
} from '@flags/core/integration/postgres';
import { bumpVersionShard } from '../data-version.js';
import type { Statement } from '../database.js';
import { bounded, toStoredText } from '../tables.js';
import type { UsageDatabase } from './usage-database.js';

export interface AdmittedBatch {
  readonly batch: UsageBatch;
  readonly admission: Admission;
}

/** A row of an application that is created or changed. Absent members keep their stored values, '' if there are none. */
interface ApplicationRow extends Partial<Omit<ApplicationRegistration, 'strategies' | 'instance'>> {
  readonly application: string;
  readonly strategies?: string;
  readonly hasColor?: boolean;
  readonly at: number;
  readonly token: string | null;
  readonly droppedNames: number;
}

type SeenInstanceRow = InstanceRow & { at: number };

type StatementTables = Pick<UsageDatabase, 'names' | 'sharedLock'>;

/**
 * Creates the function that makes one statement of several batches: it stores all of them, or nothing. A statement that is
 * sent twice counts once. It takes the rows of each table in key order, and the tables in one order, so that concurrent
 * statements do not deadlock.
 */
export function recordStatement(tables: StatementTables) {
  const text = textOf(tables);
  return (batches: readonly AdmittedBatch[]): { readonly statement: Statement; readonly droppedNames: number } => {
    const rows = mergedRows(batches);
    const ids = batches.map(({ batch }) => toStoredText(batch.id));
    const at = batches.reduce((latest, { batch }) => Math.max(latest, batch.at), 0);
    const lists = [rows.applications, rows.instances, rows.lastSeen, rows.counts].map(toJson);
    return {
      // If one of several batches is recorded meanwhile, the statement fails, and each is written alone.
      statement: { text: text(ids.length === 1 ? 'ON CONFLICT (id) DO NOTHING' : ''), values: [ids, at, ...lists] },
      droppedNames: rows.applications.reduce((sum, { droppedNames }) => sum + droppedNames, 0),
    };
  };
}

function mergedRows(batches: readonly AdmittedBatch[]) {
  const counts = new Map<string, CountRow>();
  const lastSeen = new Map<string, number>();
  const instances = new Map<string, SeenInstanceRow>();
  const applications = new Map<string, ApplicationRow>();
  for (const { batch, admission } of batches) {
    const { at, reporter, registrations = [] } = batch;
    const rows = rowsOf(batch, admission.admitted);
    const token = reporter?.token ?? null;
    const change = (application: string, given: Partial<ApplicationRow>) => {
      const before = applications.get(application) ?? { application, at, token, droppedNames: 0 };
      applications.set(application, { ...before, ...given });
    };
    for (const application of admission.created) change(application, {});
    for (const { instance: _, strategies, ...given } of registrations) {
      const { application, color } = given;
      if (!admission.admitted.has(application)) continue;
      change(application, {
        ...given,
        strategies: JSON.stringify(strategies),
        ...(color !== undefined && { hasColor: true }),
      });
    }
    for (const [application, dropped] of rows.droppedNames) {
      change(application, { droppedNames: (applications.get(application)?.droppedNames ?? 0) + dropped });
    }
    for (const row of rows.counts) addCount(counts, row);
    for (const [flag, stop] of rows.lastSeen) lastSeen.set(flag, Math.max(lastSeen.get(flag) ?? stop, stop));
    for (const { application, id, clientIp, sdkVersion } of rows.instances) {
      const key = JSON.stringify([application, id]);
      const before = instances.get(key);
      instances.set(key, {
        application,
        id,
        clientIp: clientIp ?? before?.clientIp ?? null,
        sdkVersion: sdkVersion ?? before?.sdkVersion ?? null,
        at: Math.max(before?.at ?? at, at),
      });
    }
  }
  return {
    applications: [...applications.values()],
    instances: [...instances.values()],
    lastSeen: [...lastSeen].map(([flag, at]) => ({ flag, at })),
    counts: [...counts.values()].map((row) => ({ ...row, resolution: RESOLUTIONS[row.resolution].code })),
  };
}

function toJson(rows: readonly object[]): string {
  return JSON.stringify(rows, (_, value) => (typeof value === 'string' ? toStoredText(value) : value));
}

/** SQL with the parameters: ids of the batches, their time, and the rows of applications, instances, last-seen times, counts. */
function textOf({ names, sharedLock }: StatementTables): (onConflict: string) => string {
  const { table } = names;
  /** The rows of a list, once the batch is written, and the table before. */
  const given = (number: number, columns: string, after: string) =>
    `FROM json_to_recordset($${number}::json) AS given (${columns})
  WHERE EXISTS (SELECT FROM writing) AND (SELECT count(*) FROM ${after}) >= 0`;
  return (onConflict) => `
WITH ${sharedLock},
writing AS (
  INSERT INTO ${table('usage_batches')} (id, at)
  SELECT id, $2::bigint FROM usage_lock, unnest($1::text[]) AS id
  WHERE NOT EXISTS (SELECT FROM ${table('usage_batches')} WHERE id = ANY ($1::text[])) ORDER BY id COLLATE "C"
  ${onConflict} RETURNING 1
),
named AS (
  SELECT * ${given(
    3,
    `application text, strategies text, description text, url text, color text, "hasColor" boolean, icon text, at bigint,
    token text, "droppedNames" bigint`,
    'writing',
  )}
),
applications AS (
  INSERT INTO ${table('usage_applications')} AS known
    (name, strategies, description, url, color, icon, created_at, dropped_names, token)
  SELECT application, coalesce(strategies, '[]'), coalesce(description, ''), coalesce(url, ''), color, coalesce(icon, ''), at,
    "droppedNames", token
  FROM named ORDER BY application COLLATE "C"
  ON CONFLICT (name) DO UPDATE SET
    (strategies, description, url, color, icon) = (
      SELECT coalesce(named.strategies, known.strategies), coalesce(named.description, known.description),
        coalesce(named.url, known.url), CASE WHEN named."hasColor" THEN named.color ELSE known.color END,
        coalesce(named.icon, known.icon)
      FROM named WHERE named.application = known.name),
    dropped_names = known.dropped_names + excluded.dropped_names
  RETURNING 1
),
instances AS (
  INSERT INTO ${table('usage_instances')} AS known (application, id, client_ip, sdk_version, created_at, seen_at)
  SELECT application, id, coalesce("clientIp", ''), coalesce("sdkVersion", ''), at, at
  ${given(4, 'application text, id text, "clientIp" text, "sdkVersion" text, at bigint', 'applications')}
  ORDER BY application COLLATE "C", id COLLATE "C"
  ON CONFLICT (application, id) DO UPDATE SET
    client_ip = coalesce(nullif(excluded.client_ip, ''), known.client_ip),
    sdk_version = coalesce(nullif(excluded.sdk_version, ''), known.sdk_version),
    seen_at = greatest(known.seen_at, excluded.seen_at)
  RETURNING 1
),
last_seen AS (
  INSERT INTO ${table('usage_last_seen')} AS known (flag, at)
  SELECT flag, at ${given(5, 'flag text, at bigint', 'instances')} ORDER BY flag COLLATE "C"
  ON CONFLICT (flag) DO UPDATE SET at = excluded.at WHERE known.at < excluded.at
  RETURNING 1
),
counts AS (
  INSERT INTO ${table('usage_counts')} AS known
    (resolution, flag, application, environment, start, variant, yes, no, at, is_public, is_unknown)
  SELECT resolution, flag, application, environment, start, variant, yes, no, at, "isPublic", "isUnknown"
  ${given(
    6,
    `resolution smallint, flag text, application text, environment text, start bigint, variant text, yes bigint, no bigint,
    at bigint, "isPublic" boolean, "isUnknown" boolean`,
    'last_seen',
  )}
  ORDER BY resolution, flag COLLATE "C", application COLLATE "C", environment COLLATE "C", start, variant COLLATE "C"
  ON CONFLICT (resolution, flag, application, environment, start, variant) DO UPDATE SET
    yes = ${bounded('known.yes + excluded.yes')}, no = ${bounded('known.no + excluded.no')},
    at = greatest(known.at, excluded.at), is_public = known.is_public AND excluded.is_public,
    is_unknown = known.is_unknown AND excluded.is_unknown
  RETURNING 1
)
${bumpVersionShard(names, ['counts'])}`;
}
