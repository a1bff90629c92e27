import { prepare, type SqliteDatabase } from '../storage/sqlite/database.js';
import type { InstanceSighting, StoredInstance } from './port.js';

interface Sighting {
  readonly application: string;
  readonly instance: InstanceSighting;
  readonly at: number;
}

export interface SqliteInstances {
  see(sighting: Sighting): void;
  of(application: string): StoredInstance[];
  dropUnseenSince(time: number): void;
}

export function sqliteInstances(database: SqliteDatabase, prefix: string): SqliteInstances {
  const table = `${prefix}instances`;
  const see = prepare(
    database,
    `INSERT INTO ${table} (application, id, client_ip, sdk_version, created_at, seen_at)
    VALUES (@application, @id, ifnull(@clientIp, ''), ifnull(@sdkVersion, ''), @at, @at)
    ON CONFLICT (application, id) DO UPDATE SET
      client_ip = ifnull(@clientIp, client_ip),
      sdk_version = ifnull(@sdkVersion, sdk_version),
      seen_at = max(seen_at, @at)`,
  );
  const findOf = prepare(
    database,
    `SELECT id, client_ip AS clientIp, sdk_version AS sdkVersion, created_at AS createdAt, seen_at AS seenAt
    FROM ${table} WHERE application = ? ORDER BY id`,
  );
  const dropUnseenSince = prepare(database, `DELETE FROM ${table} WHERE seen_at < ?`);

  return {
    see({ application, instance: { id, clientIp = null, sdkVersion = null }, at }) {
      see.run({ application, id, clientIp, sdkVersion, at });
    },
    of: (application) => findOf.all(application) as StoredInstance[],
    // An application is seen with each of its instances, so this takes those of unseen applications with it.
    dropUnseenSince(time) {
      dropUnseenSince.run(time);
    },
  };
}
