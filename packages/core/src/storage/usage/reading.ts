import { groupBy } from '../../base/collections.js';
import { type ReadUsage, tableOf, type UsageDialect } from './dialect.js';
import type { StoredInstance, SumQuery, UsageKey, UsageStorage, UsageSum } from './port.js';
import { RESOLUTIONS } from './rules.js';

const MOST = Number.MAX_SAFE_INTEGER;

/** Reads usage from the tables of a SQL database. */
export function createUsageReader(
  { tables, indexedBy, unindexed, sum, isOneOf }: UsageDialect,
  read: ReadUsage,
): Pick<UsageStorage, 'sum' | 'lastSeen' | 'applications'> {
  /** Returns the instances of applications, by application. */
  async function instancesOf(names: readonly string[]): Promise<ReadonlyMap<string, readonly StoredInstance[]>> {
    const rows = await read({
      text: `SELECT application, id, client_ip, sdk_version, created_at, seen_at FROM ${tables.instances}
        WHERE ${isOneOf('application')} ORDER BY application, id`,
      values: [names],
    });
    const grouped = [...groupBy(rows, ([application]) => String(application))];
    return new Map(grouped.map(([application, found]) => [application, found.map(toInstance)]));
  }

  return {
    /** One statement, which SQLite answers in the order of an index. */
    async sum<Key extends UsageKey>(query: SumQuery<Key>) {
      const { resolution, from = 0, until = MOST, after, limit = MOST, flag, application, environment } = query;
      const by: readonly UsageKey[] = query.by;
      const [first, ...others] = by;
      const table = tableOf(resolution);
      // Rows of `ever` have one start. Naming it lets the key give the order.
      const order = resolution === 'ever' && first === 'application' ? [first, 'start' as const, ...others] : by;
      const index = table === 'counts' && first === 'flag' ? indexedBy('counts_by_flag') : '';
      const filters = Object.entries({ flag, application, environment }).flatMap(([column, value]) =>
        value === undefined ? [] : [{ column, value }],
      );
      const conditions = [
        `resolution = ${RESOLUTIONS[resolution].code} AND ${unindexed('start')} >= ? AND ${unindexed('start')} < ?`,
        ...filters.map(({ column }) => `${column} = ?`),
        ...(by.includes('application') ? ["application <> ''"] : []),
        ...(by.includes('variant') ? [] : ["variant = ''"]),
        ...(after ? [`(${order.join(', ')}) > (${order.map(() => '?').join(', ')})`] : []),
      ];
      const place = after ? order.map((key) => after[key] ?? 0) : [];
      const rows = await read({
        text: `SELECT ${by.join(', ')}, ${sum('yes')} AS yes, ${sum('no')} AS no FROM ${tables[table]} ${index}
          WHERE ${conditions.join(' AND ')} GROUP BY ${order.join(', ')} ORDER BY ${order.join(', ')} LIMIT ?`,
        values: [from, until, ...filters.map(({ value }) => value), ...place, limit],
      });
      return rows.map((row) => toSum<Key>([...by, 'yes', 'no'], row));
    },

    async lastSeen(flags) {
      const text = `SELECT flag, at FROM ${tables.lastSeen} WHERE ${isOneOf('flag')}`;
      const rows = await read({ text, values: [flags] });
      return new Map(rows.map(([flag, at]) => [String(flag), Number(at)]));
    },

    async applications({ seenSince = 0, names, after = '', limit = MOST, instances: withInstances = false }) {
      const seen = `(SELECT max(seen_at) FROM ${tables.instances} WHERE application = name)`;
      const rows = await read({
        text: `SELECT * FROM (
          SELECT name, strategies, description, url, color, icon, created_at, dropped_names,
            coalesce(${seen}, created_at) AS seen_at
          FROM ${tables.applications} WHERE name > ? ${names ? `AND ${isOneOf('name')}` : ''}
        ) AS found WHERE seen_at >= ? ORDER BY name LIMIT ?`,
        values: [after, ...(names ? [names] : []), seenSince, limit],
      });
      const found = withInstances ? await instancesOf(rows.map(([name]) => String(name))) : undefined;
      return rows.map(([name, strategies, description, url, color, icon, createdAt, droppedNames, seenAt]) => ({
        name: String(name),
        strategies: JSON.parse(String(strategies)),
        description: String(description),
        url: String(url),
        color: color === null ? null : String(color),
        icon: String(icon),
        createdAt: Number(createdAt),
        seenAt: Number(seenAt),
        droppedNames: Number(droppedNames),
        ...(found && { instances: found.get(String(name)) ?? [] }),
      }));
    },
  };
}

function toInstance([, id, clientIp, sdkVersion, createdAt, seenAt]: readonly unknown[]): StoredInstance {
  return {
    id: String(id),
    clientIp: String(clientIp),
    sdkVersion: String(sdkVersion),
    createdAt: Number(createdAt),
    seenAt: Number(seenAt),
  };
}

const NUMBERS: readonly string[] = ['start', 'yes', 'no'];

function toSum<Key extends UsageKey>(members: readonly string[], row: readonly unknown[]): UsageSum<Key> {
  const entries = members.map((name, index) => [
    name,
    NUMBERS.includes(name) ? Number(row[index]) : String(row[index]),
  ]);
  return Object.fromEntries(entries) as UsageSum<Key>;
}
