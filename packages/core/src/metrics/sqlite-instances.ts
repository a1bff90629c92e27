import { prepare, type SqliteDatabase } from '../storage/sqlite/database.js';
import { mergedRows } from './merged-rows.js';
import type { InstanceSighting, StoredInstance } from './port.js';

/** Of an instance, and so of its application. */
export interface Sighting {
  readonly application: string;
  readonly instance: InstanceSighting;
  readonly at: number;
}

export interface SqliteInstances {
  see(sightings: readonly Sighting[]): void;
  of(application: string): StoredInstance[];
  dropUnseenSince(time: number): void;
}

export function sqliteInstances(database: SqliteDatabase, prefix: string): SqliteInstances {
  const table = `${prefix}instances`;
  const see = prepare(
    database,
    `INSERT INTO ${table} (application, id, client_ip, sdk_version, created_at, seen_at)
    VALUES (@application, @id, ifnull(@clientIp, ''), ifnull(@sdkVersion, ''), @createdAt, @seenAt)
    ON CONFLICT (application, id) DO UPDATE SET
      client_ip = ifnull(@clientIp, client_ip),
      sdk_version = ifnull(@sdkVersion, sdk_version),
      seen_at = max(seen_at, @seenAt)`,
  );
  const findOf = prepare(
    database,
    `SELECT id, client_ip AS clientIp, sdk_version AS sdkVersion, created_at AS createdAt, seen_at AS seenAt
    FROM ${table} WHERE application = ? ORDER BY id`,
  );
  const dropUnseenSince = prepare(database, `DELETE FROM ${table} WHERE seen_at < ?`);

  return {
    see(sightings) {
      const rows = mergedRows<string, InstanceRow>(addSightings);
      for (const { application, instance, at } of sightings) rows.add(application, instance.id, rowOf(instance, at));
      rows.forEach((row, application, id) => void see.run({ application, id, ...row }));
    },
    of: (application) => findOf.all(application) as StoredInstance[],
    // An application is seen with each of its instances, so this takes those of unseen applications with it.
    dropUnseenSince(time) {
      dropUnseenSince.run(time);
    },
  };
}

/** What several sightings of one instance write. */
interface InstanceRow {
  readonly clientIp: string | null;
  readonly sdkVersion: string | null;
  readonly createdAt: number;
  readonly seenAt: number;
}

function rowOf({ clientIp, sdkVersion }: InstanceSighting, at: number): InstanceRow {
  return { clientIp: clientIp ?? null, sdkVersion: sdkVersion ?? null, createdAt: at, seenAt: at };
}

function addSightings(one: InstanceRow, next: InstanceRow): InstanceRow {
  return {
    clientIp: next.clientIp ?? one.clientIp,
    sdkVersion: next.sdkVersion ?? one.sdkVersion,
    createdAt: one.createdAt,
    seenAt: Math.max(one.seenAt, next.seenAt),
  };
}
