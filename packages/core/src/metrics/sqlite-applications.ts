import { prepare, type SqliteDatabase } from '../storage/sqlite/database.js';
import type { Applications } from './composition.js';
import type { ApplicationRegistration, StoredApplication } from './port.js';
import { type Sighting, sqliteInstances } from './sqlite-instances.js';
import { sqliteUsage } from './sqlite-usage.js';

/** The list of strategies is kept as JSON. */
type ApplicationRow = Omit<StoredApplication, 'strategies'> & { readonly strategies: string };

export function sqliteApplications(database: SqliteDatabase, prefix: string): Applications {
  const { see, register, findSeenSince, find, dropUnseenSince } = applicationStatements(database, prefix);
  const instances = sqliteInstances(database, prefix);
  const usage = sqliteUsage(database, prefix);

  return {
    add(reports) {
      for (const row of seenApplications(reports)) see.run(row);
      instances.see(reports);
      usage.add(reports);
    },
    register(registration) {
      register.run(parametersOf(registration));
      instances.see([registration]);
    },
    seenSince: (time) => (findSeenSince.all(time) as ApplicationRow[]).map(applicationOf),
    detail(name) {
      const row = find.get(name) as ApplicationRow | undefined;
      return row && { ...applicationOf(row), instances: instances.of(name), flags: usage.flagsOf(name) };
    },
    usage: () => usage.all(),
    forget: (flag) => usage.forget(flag),
    dropUnseenSince(time) {
      usage.dropUnseenSince(time);
      instances.dropUnseenSince(time);
      dropUnseenSince.run(time);
    },
  };
}

function applicationStatements(database: SqliteDatabase, prefix: string) {
  const table = `${prefix}applications`;
  const columns = 'name, strategies, description, url, color, icon, created_at, seen_at';
  const select = `
    SELECT name, strategies, description, url, color, icon, created_at AS createdAt, seen_at AS seenAt FROM ${table}`;
  return {
    see: prepare(
      database,
      `INSERT INTO ${table} (${columns}) VALUES (@name, '[]', '', '', NULL, '', @createdAt, @seenAt)
      ON CONFLICT (name) DO UPDATE SET seen_at = excluded.seen_at WHERE seen_at < excluded.seen_at`,
    ),
    register: prepare(
      database,
      `INSERT INTO ${table} (${columns})
      VALUES (@name, @strategies, ifnull(@description, ''), ifnull(@url, ''), @color, ifnull(@icon, ''), @at, @at)
      ON CONFLICT (name) DO UPDATE SET
        strategies = @strategies,
        description = ifnull(@description, description),
        url = ifnull(@url, url),
        color = iif(@keepColor, color, @color),
        icon = ifnull(@icon, icon),
        seen_at = max(seen_at, @at)`,
    ),
    findSeenSince: prepare(database, `${select} WHERE seen_at >= ? ORDER BY name`),
    find: prepare(database, `${select} WHERE name = ?`),
    dropUnseenSince: prepare(database, `DELETE FROM ${table} WHERE seen_at < ?`),
  };
}

function parametersOf({ application, at, strategies, description, url, color, icon }: ApplicationRegistration) {
  return {
    name: application,
    at,
    strategies: JSON.stringify(strategies),
    description: description ?? null,
    url: url ?? null,
    color: color ?? null,
    keepColor: Number(color === undefined),
    icon: icon ?? null,
  };
}

function applicationOf(row: ApplicationRow): StoredApplication {
  return { ...row, strategies: JSON.parse(row.strategies) };
}

interface SeenApplication {
  readonly name: string;
  readonly createdAt: number;
  readonly seenAt: number;
}

/** Each application once: made when it was first seen here, if it has to be made, and seen last at the latest time. */
function seenApplications(sightings: readonly Sighting[]): Iterable<SeenApplication> {
  const seen = new Map<string, SeenApplication>();
  for (const { application: name, at } of sightings) {
    const { createdAt = at, seenAt = at } = seen.get(name) ?? {};
    seen.set(name, { name, createdAt, seenAt: Math.max(seenAt, at) });
  }
  return seen.values();
}
