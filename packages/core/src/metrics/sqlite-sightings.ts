import { prepare, preparePluck, prepareRaw, type SqliteDatabase } from '../storage/sqlite/database.js';
import type { Sightings } from './composition.js';
import { SLICE_ROWS } from './slices.js';

export function sqliteSightings(database: SqliteDatabase, prefix: string): Sightings {
  const see = prepare(
    database,
    `INSERT INTO ${prefix}last_seen (flag, at) VALUES (?, ?)
    ON CONFLICT (flag) DO UPDATE SET at = excluded.at WHERE at < excluded.at`,
  );
  const find = preparePluck(database, `SELECT at FROM ${prefix}last_seen WHERE flag = ?`);
  const findAfter = prepareRaw(
    database,
    `SELECT flag, at FROM ${prefix}last_seen WHERE flag > ? ORDER BY flag LIMIT ?`,
  );
  const forget = prepare(database, `DELETE FROM ${prefix}last_seen WHERE flag = ?`);

  return {
    add(reports) {
      const latest = new Map<string, number>();
      for (const { stop, counts } of reports) {
        for (const { flag } of counts) latest.set(flag, Math.max(latest.get(flag) ?? stop, stop));
      }
      for (const [flag, at] of latest) see.run(flag, at);
    },
    // One look-up per name: the number of values that a single statement may bind is limited, that of names is not.
    of(flags) {
      const found = new Map<string, number>();
      for (const flag of flags) {
        const at = find.get(flag) as number | undefined;
        if (at !== undefined) found.set(flag, at);
      }
      return found;
    },
    forget(flag) {
      forget.run(flag);
    },
    dropStrangers({ isFlag, unseenSince }, onDropped) {
      let last = '';
      return () => {
        const page = findAfter.all(last, SLICE_ROWS) as [string, number][];
        for (const [flag, at] of page) {
          last = flag;
          if (at >= unseenSince || isFlag(flag)) continue;
          forget.run(flag);
          onDropped(flag);
        }
        return page.length === SLICE_ROWS;
      };
    },
  };
}
