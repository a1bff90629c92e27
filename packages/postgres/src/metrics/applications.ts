import type { ApplicationQuery, StoredApplication, StoredApplicationDetail, StoredInstance } from '@flags/core';
import type { Database } from '../database.js';
import { fromStoredText, type TableNames, toStoredText } from '../tables.js';

interface ApplicationRow {
  readonly name: string;
  readonly strategies: string;
  readonly description: string;
  readonly url: string;
  readonly color: string | null;
  readonly icon: string;
  readonly created_at: string;
  readonly seen_at: string;
}

/** `instances` and `flags` are JSON lists. */
interface DetailRow extends ApplicationRow {
  readonly instances: string;
  readonly flags: string;
  readonly dropped_names: string | null;
}

type InstanceValues = readonly [
  id: string,
  clientIp: string | null,
  sdkVersion: string | null,
  createdAt: number,
  seenAt: number,
];

/** Reads applications. An application was last seen when the latest of its instances was. */
export function applicationReader(database: Database, { table }: TableNames) {
  const latest = `(SELECT max(seen_at) FROM ${table('instances')} WHERE application = name)`;
  const select = `SELECT applications.*, ${latest} AS seen_at`;
  const from = `FROM ${table('applications')} AS applications`;
  const instances = `(
    SELECT json_agg(json_build_array(id, client_ip, sdk_version, created_at, seen_at) ORDER BY id)
    FROM ${table('instances')} WHERE application = name) AS instances`;
  const flags = `(
    SELECT coalesce(json_agg(flag ORDER BY flag), '[]') FROM (
      SELECT flag FROM ${table('usage')} WHERE application = name
      UNION SELECT flag FROM ${table('usage_current')} WHERE application = name
      UNION SELECT flag FROM ${table('unknown_names')} WHERE application = name) AS seen) AS flags`;
  const dropped = `(SELECT count FROM ${table('dropped_names')} WHERE application = name) AS dropped_names`;

  return {
    async applications({ seenSince, names, after = '', limit }: ApplicationQuery): Promise<StoredApplication[]> {
      const rows = await database.query<ApplicationRow>(
        `SELECT * FROM (${select} ${from} WHERE name > $2 ${names ? 'AND name = ANY ($4::text[])' : ''}) AS seen
        WHERE seen_at >= $1 ORDER BY name LIMIT $3`,
        [seenSince, toStoredText(after), limit ?? null, ...(names ? [names.map(toStoredText)] : [])],
      );
      return rows.map(toApplication);
    },

    async application(name: string): Promise<StoredApplicationDetail | undefined> {
      const [row] = await database.query<DetailRow>(
        `${select}, ${instances}, ${flags}, ${dropped} ${from} WHERE name = $1`,
        [toStoredText(name)],
      );
      return row && toDetail(row);
    },
  };
}

function toApplication(row: ApplicationRow): StoredApplication {
  return {
    name: fromStoredText(row.name),
    strategies: JSON.parse(fromStoredText(row.strategies)),
    description: fromStoredText(row.description),
    url: fromStoredText(row.url),
    color: row.color === null ? null : fromStoredText(row.color),
    icon: fromStoredText(row.icon),
    createdAt: Number(row.created_at),
    seenAt: Number(row.seen_at),
  };
}

function toDetail(row: DetailRow): StoredApplicationDetail {
  return {
    ...toApplication(row),
    instances: (JSON.parse(row.instances) as InstanceValues[]).map(toInstance),
    flags: (JSON.parse(row.flags) as string[]).map(fromStoredText),
    ...(row.dropped_names !== null && { droppedNames: Number(row.dropped_names) }),
  };
}

function toInstance([id, clientIp, sdkVersion, createdAt, seenAt]: InstanceValues): StoredInstance {
  return {
    id: fromStoredText(id),
    clientIp: fromStoredText(clientIp ?? ''),
    sdkVersion: fromStoredText(sdkVersion ?? ''),
    createdAt,
    seenAt,
  };
}
