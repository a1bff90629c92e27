import { RESOLUTIONS } from '@flags/core/integration';
import type {
  StoredApplication,
  StoredInstance,
  SumQuery,
  UsageKey,
  UsageStorage,
  UsageSum,
} from '@flags/core/storage';
import type { Database } from '../database.js';
import { bounded, fromStoredText, type TableNames, toStoredText } from '../tables.js';

/** `instances` is a JSON list; absent unless the query asks for it. */
interface ApplicationRow {
  readonly name: string;
  readonly strategies: string;
  readonly description: string;
  readonly url: string;
  readonly color: string | null;
  readonly icon: string;
  readonly created_at: string;
  readonly seen_at: string;
  readonly dropped_names: string;
  readonly instances?: string;
}

type InstanceValues = readonly [id: string, clientIp: string, sdkVersion: string, createdAt: number, seenAt: number];

export function usageReader(
  database: Database,
  { table }: TableNames,
): Pick<UsageStorage, 'sum' | 'lastSeen' | 'applications'> {
  const counts = table('usage_counts');
  const seen = `coalesce((SELECT max(seen_at) FROM ${table('usage_instances')} WHERE application = name), created_at)`;
  const instances = `(
    SELECT coalesce(json_agg(json_build_array(id, client_ip, sdk_version, created_at, seen_at) ORDER BY id), '[]')
    FROM ${table('usage_instances')} WHERE application = name) AS instances`;

  return {
    async sum<Key extends UsageKey>(query: SumQuery<Key>) {
      const { resolution, by, from, until, after, limit } = query;
      const values: unknown[] = [];
      const parameter = (value: unknown) => `$${values.push(typeof value === 'string' ? toStoredText(value) : value)}`;
      const conditions = [`resolution = ${RESOLUTIONS[resolution].code}`];
      if (from !== undefined) conditions.push(`start >= ${parameter(from)}`);
      if (until !== undefined) conditions.push(`start < ${parameter(until)}`);
      for (const column of ['flag', 'application', 'environment'] as const) {
        const value = query[column];
        if (value !== undefined) conditions.push(`${column} = ${parameter(value)}`);
      }
      const groups: readonly UsageKey[] = by;
      if (!groups.includes('variant')) conditions.push("variant = ''");
      if (groups.includes('application')) conditions.push("application <> ''");
      const key = groups.join(', ');
      if (after) conditions.push(`(${key}) > (${by.map((name) => parameter(after[name])).join(', ')})`);
      const rows = await database.query<Record<UsageKey | 'yes' | 'no', string>>(
        `SELECT ${key}, ${bounded('sum(yes)')} AS yes, ${bounded('sum(no)')} AS no FROM ${counts}
        WHERE ${conditions.join(' AND ')} GROUP BY ${key} ORDER BY ${key} LIMIT ${parameter(limit ?? null)}`,
        values,
      );
      return rows.map((row) => {
        const members = groups.map((name) => [name, name === 'start' ? Number(row.start) : fromStoredText(row[name])]);
        return { ...Object.fromEntries(members), yes: Number(row.yes), no: Number(row.no) } as UsageSum<Key>;
      });
    },

    async lastSeen(flags) {
      const rows = await database.query<{ readonly flag: string; readonly at: string }>(
        `SELECT flag, at FROM ${table('usage_last_seen')} WHERE flag = ANY ($1::text[])`,
        [flags.map(toStoredText)],
      );
      return new Map(rows.map(({ flag, at }) => [fromStoredText(flag), Number(at)]));
    },

    async applications({ seenSince = 0, names, after, limit, instances: withInstances = false }) {
      const rows = await database.query<ApplicationRow>(
        `SELECT * FROM (
          SELECT *, ${seen} AS seen_at ${withInstances ? `, ${instances}` : ''} FROM ${table('usage_applications')}
          WHERE ($2::text IS NULL OR name > $2) ${names ? 'AND name = ANY ($4::text[])' : ''}
        ) AS seen WHERE seen_at >= $1 ORDER BY name LIMIT $3`,
        [
          seenSince,
          after === undefined ? null : toStoredText(after),
          limit ?? null,
          ...(names ? [names.map(toStoredText)] : []),
        ],
      );
      return rows.map(toApplication);
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
    droppedNames: Number(row.dropped_names),
    ...(row.instances !== undefined && { instances: (JSON.parse(row.instances) as InstanceValues[]).map(toInstance) }),
  };
}

function toInstance([id, clientIp, sdkVersion, createdAt, seenAt]: InstanceValues): StoredInstance {
  return {
    id: fromStoredText(id),
    clientIp: fromStoredText(clientIp),
    sdkVersion: fromStoredText(sdkVersion),
    createdAt,
    seenAt,
  };
}
