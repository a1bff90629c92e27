import { compareCodePoints } from '../../base/collections.js';
import { LIMITS } from '../../base/limits.js';
import type { Applications, Sighting } from '../metrics-composition.js';
import type {
  ApplicationRegistration,
  InstanceSighting,
  Reporter,
  StoredApplication,
  StoredInstance,
} from '../metrics-port.js';
import { applicationLimit, ownerOf } from '../reporters.js';
import { repeatInSlices, SLICE_ROWS, type SlicedWork } from '../slices.js';
import { createRowMerger, prepare, preparePluck, prepareRaw, type SqliteDatabase } from './database.js';
import { sqliteUsage } from './metrics-usage.js';

export interface SqliteInstances {
  see(sightings: readonly Sighting[]): void;
  of(application: string): StoredInstance[];
  remove(application: string): void;
  dropUnseenSince(time: number): SlicedWork;
}

function sqliteInstances(database: SqliteDatabase, prefix: string): SqliteInstances {
  const statements = instanceStatements(database, `${prefix}instances`);

  /** Returns whether the instance is new. */
  function write(application: string, id: string, row: InstanceRow): boolean {
    const { clientIp, sdkVersion, seenAt } = row;
    if (statements.update.run(clientIp, sdkVersion, seenAt, application, id).changes > 0) return false;
    statements.insert.run({ application, id, ...row });
    return true;
  }

  return {
    see(sightings) {
      const rows = createRowMerger<string, InstanceRow>(mergeSightings);
      for (const { application, instance, at } of sightings) rows.add(application, instance.id, rowOf(instance, at));
      const grown = new Set<string>();
      rows.forEach((row, application, id) => {
        if (write(application, id, row)) grown.add(application);
      });
      for (const application of grown) {
        const excess = (statements.count.get(application) as number) - LIMITS.instancesPerApplication;
        if (excess > 0) statements.dropOldest.run({ application, excess });
      }
    },
    of: (application) => statements.findOf.all(application) as StoredInstance[],
    remove(application) {
      statements.remove.run(application);
    },
    dropUnseenSince(time) {
      let after: readonly [string, string] = ['', ''];
      return () => {
        const page = statements.page.all(...after, SLICE_ROWS) as [string, string, number][];
        for (const [application, id, seenAt] of page) {
          after = [application, id];
          if (seenAt < time) statements.drop.run(application, id);
        }
        return page.length === SLICE_ROWS;
      };
    },
  };
}

function instanceStatements(database: SqliteDatabase, table: string) {
  return {
    update: prepare(
      database,
      `UPDATE ${table} SET
        client_ip = ifnull(?, client_ip),
        sdk_version = ifnull(?, sdk_version),
        seen_at = max(seen_at, ?)
      WHERE application = ? AND id = ?`,
    ),
    insert: prepare(
      database,
      `INSERT INTO ${table} (application, id, client_ip, sdk_version, created_at, seen_at)
      VALUES (@application, @id, ifnull(@clientIp, ''), ifnull(@sdkVersion, ''), @createdAt, @seenAt)`,
    ),
    count: preparePluck(database, `SELECT count(*) FROM ${table} WHERE application = ?`),
    dropOldest: prepare(
      database,
      `DELETE FROM ${table} WHERE application = @application AND id IN (
        SELECT id FROM ${table} WHERE application = @application ORDER BY seen_at, id LIMIT @excess)`,
    ),
    findOf: prepare(
      database,
      `SELECT id, client_ip AS clientIp, sdk_version AS sdkVersion, created_at AS createdAt, seen_at AS seenAt
      FROM ${table} WHERE application = ? ORDER BY id`,
    ),
    page: prepareRaw(
      database,
      `SELECT application, id, seen_at FROM ${table} WHERE (application, id) > (?, ?) ORDER BY application, id LIMIT ?`,
    ),
    remove: prepare(database, `DELETE FROM ${table} WHERE application = ?`),
    drop: prepare(database, `DELETE FROM ${table} WHERE application = ? AND id = ?`),
  };
}

/** The merged sightings of one instance. */
interface InstanceRow {
  readonly clientIp: string | null;
  readonly sdkVersion: string | null;
  readonly createdAt: number;
  readonly seenAt: number;
}

function rowOf({ clientIp, sdkVersion }: InstanceSighting, at: number): InstanceRow {
  return { clientIp: clientIp ?? null, sdkVersion: sdkVersion ?? null, createdAt: at, seenAt: at };
}

function mergeSightings(one: InstanceRow, next: InstanceRow): InstanceRow {
  return {
    clientIp: next.clientIp ?? one.clientIp,
    sdkVersion: next.sdkVersion ?? one.sdkVersion,
    createdAt: one.createdAt,
    seenAt: Math.max(one.seenAt, next.seenAt),
  };
}

/** The list of strategies is stored as JSON. */
type ApplicationRow = Omit<StoredApplication, 'strategies'> & { readonly strategies: string };

export function sqliteApplications(database: SqliteDatabase, prefix: string): Applications {
  const statements = applicationStatements(database, prefix);
  const instances = sqliteInstances(database, prefix);
  const usage = sqliteUsage(database, prefix);

  function admit({ name, createdAt, seenAt, owner }: SeenApplication): boolean {
    const values = { name, seenAt, token: owner?.token ?? null, isPublic: Number(owner?.isPublic ?? false) };
    if (statements.see.run(values).changes > 0) return true;
    if ((statements.count.get() as number) >= LIMITS.applications || !hasRoomFor(owner)) return false;
    statements.addSeen.run(values);
    statements.add.run({ name, createdAt, seenAt });
    return true;
  }

  function hasRoomFor(reporter: Reporter | undefined): boolean {
    return reporter === undefined || (statements.countOf.get(reporter.token) as number) < applicationLimit(reporter);
  }

  function removeSlice(name: string): boolean {
    if (usage.removeSlice(name)) return true;
    instances.remove(name);
    statements.remove.run(name);
    statements.removeSeen.run(name);
    return false;
  }

  return {
    admit: (sightings) =>
      new Set(Array.from(seenApplications(sightings)).flatMap((row) => (admit(row) ? [row.name] : []))),
    displaced(sightings) {
      const waiting = Array.from(seenApplications(sightings)).filter(({ name, owner }) => {
        return !owner?.isPublic && statements.isSeen.get(name) === undefined && hasRoomFor(owner);
      });
      if (waiting.length === 0) return undefined;
      if ((statements.count.get() as number) + waiting.length <= LIMITS.applications) return undefined;
      const named = JSON.stringify(sightings.map(({ application }) => application));
      return statements.oldestPublic.get(named) as string | undefined;
    },
    has: (name) => statements.find.get(name) !== undefined,
    add(reports) {
      instances.see(reports);
      return usage.add(reports);
    },
    register(registration) {
      statements.register.run(parametersOf(registration));
      instances.see([registration]);
    },
    list({ seenSince, names, after = '', limit = -1 }) {
      const rows = names
        ? names.flatMap((name) => (statements.find.get(name) as ApplicationRow | undefined) ?? [])
        : (statements.page.all(after, seenSince, limit) as ApplicationRow[]);
      const wanted = names ? selectNamed(rows, { seenSince, after, limit }) : rows;
      return wanted.map(applicationOf);
    },
    detail(name) {
      const row = statements.find.get(name) as ApplicationRow | undefined;
      return row && { ...applicationOf(row), instances: instances.of(name), flags: usage.flagsOf(name) };
    },
    usage: usage.read,
    timedUsage: usage.readTimed,
    forget: (flag) => usage.forget(flag),
    forgetSlice: usage.forgetSlice,
    dropTimedUsage: usage.drop,
    removeSlice,
    dropUnseenSince: (time, onDropped) => [
      instances.dropUnseenSince(time),
      repeatInSlices(() => {
        const name = statements.findUnseen.get(time) as string | undefined;
        if (name === undefined) return false;
        if (!removeSlice(name)) onDropped(name);
        return true;
      }),
    ],
  };
}

/** Filters, sorts and limits the named applications as the page query does. */
function selectNamed(
  rows: readonly ApplicationRow[],
  { seenSince, after, limit }: { seenSince: number; after: string; limit: number },
): readonly ApplicationRow[] {
  const found = rows
    .filter(({ name, seenAt }) => seenAt >= seenSince && compareCodePoints(name, after) > 0)
    .sort((one, other) => compareCodePoints(one.name, other.name));
  return limit < 0 ? found : found.slice(0, limit);
}

function applicationStatements(database: SqliteDatabase, prefix: string) {
  const [table, seen] = [`${prefix}applications`, `${prefix}applications_seen`];
  const select = `
    SELECT name, strategies, description, url, color, icon, created_at AS createdAt, at AS seenAt
    FROM ${seen} JOIN ${table} USING (name)`;
  return {
    see: prepare(
      database,
      `UPDATE ${seen} SET
        at = max(at, @seenAt),
        token = iif(is_public AND NOT @isPublic, @token, token),
        is_public = min(is_public, @isPublic)
      WHERE name = @name`,
    ),
    isSeen: preparePluck(database, `SELECT 1 FROM ${seen} WHERE name = ?`),
    count: preparePluck(database, `SELECT count(*) FROM ${seen}`),
    countOf: preparePluck(database, `SELECT count(*) FROM ${seen} WHERE token = ?`),
    oldestPublic: preparePluck(
      database,
      `SELECT name FROM ${seen} WHERE is_public AND name NOT IN (SELECT value FROM json_each(?)) ORDER BY at, name LIMIT 1`,
    ),
    addSeen: prepare(
      database,
      `INSERT INTO ${seen} (name, at, token, is_public) VALUES (@name, @seenAt, @token, @isPublic)`,
    ),
    add: prepare(
      database,
      `INSERT INTO ${table} (name, strategies, description, url, color, icon, created_at, seen_at)
      VALUES (@name, '[]', '', '', NULL, '', @createdAt, @seenAt)`,
    ),
    register: prepare(
      database,
      `UPDATE ${table} SET
        strategies = @strategies,
        description = ifnull(@description, description),
        url = ifnull(@url, url),
        color = iif(@keepColor, color, @color),
        icon = ifnull(@icon, icon)
      WHERE name = @name`,
    ),
    page: prepare(database, `${select} WHERE name > ? AND at >= ? ORDER BY name LIMIT ?`),
    find: prepare(database, `${select} WHERE name = ?`),
    findUnseen: preparePluck(database, `SELECT name FROM ${seen} WHERE at < ? LIMIT 1`),
    remove: prepare(database, `DELETE FROM ${table} WHERE name = ?`),
    removeSeen: prepare(database, `DELETE FROM ${seen} WHERE name = ?`),
  };
}

function parametersOf({ application, strategies, description, url, color, icon }: ApplicationRegistration) {
  return {
    name: application,
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
  readonly owner: Reporter | undefined;
}

/** Returns each application once: a new one gets the time of its first sighting, and all get the latest time. */
function seenApplications(sightings: readonly Sighting[]): Iterable<SeenApplication> {
  const seen = new Map<string, SeenApplication>();
  for (const { application: name, at, reporter } of sightings) {
    const { createdAt, seenAt, owner } = seen.get(name) ?? { createdAt: at, seenAt: at, owner: reporter };
    seen.set(name, { name, createdAt, seenAt: Math.max(seenAt, at), owner: ownerOf(owner, reporter) });
  }
  return seen.values();
}
