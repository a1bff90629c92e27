import { prepare, preparePluck, prepareRaw, type SqliteDatabase } from '../storage/sqlite/database.js';
import { LIMITS } from '../validation/limits.js';
import type { Sighting } from './composition.js';
import { mergedRows } from './merged-rows.js';
import type { InstanceSighting, StoredInstance } from './port.js';
import { SLICE_ROWS, type SlicedWork } from './slices.js';

export interface SqliteInstances {
  see(sightings: readonly Sighting[]): void;
  of(application: string): StoredInstance[];
  remove(application: string): void;
  dropUnseenSince(time: number): SlicedWork;
}

export function sqliteInstances(database: SqliteDatabase, prefix: string): SqliteInstances {
  const statements = instanceStatements(database, `${prefix}instances`);

  /** Whether the instance is a new one. */
  function write(application: string, id: string, row: InstanceRow): boolean {
    const { createdAt, ...seen } = row;
    if (statements.update.run({ application, id, ...seen }).changes > 0) return false;
    statements.insert.run({ application, id, ...row });
    return true;
  }

  return {
    see(sightings) {
      const rows = mergedRows<string, InstanceRow>(addSightings);
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
        client_ip = ifnull(@clientIp, client_ip),
        sdk_version = ifnull(@sdkVersion, sdk_version),
        seen_at = max(seen_at, @seenAt)
      WHERE application = @application AND id = @id`,
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
