import { type BigIntStats, statSync } from 'node:fs';

/**
 * How old, in milliseconds, the last change of a folder has to be before its time tells changes apart: file systems keep times
 * to the nanosecond, to the tick of a clock (10 ms), or to one or two seconds.
 */
const SETTLED = 3_000;

/**
 * Gives a check of files in a folder that is made again only when a name in the folder may have been added, removed, renamed or
 * replaced since it last passed. That is told by the time at which the folder itself has changed, so it costs one `stat`
 * of the folder, and none of the files: since Linux 6.13 a file whose times have been asked for gets new ones with its next write,
 * to the nanosecond, and flushing the file has to write these as well.
 *
 * @param check throws when it does not pass
 * @param now milliseconds since 1970, by the clock of the file system
 */
export function unlessNamesMoved(folder: string, check: () => void, now: () => number = Date.now): () => void {
  let passed: BigIntStats | undefined;

  return () => {
    // Before the check: what moves meanwhile is found the next time.
    const found = look(folder);
    if (found && passed && isUnchanged(found, passed)) return;
    passed = undefined;
    check();
    if (found && now() - Number(found.ctimeMs) > SETTLED) passed = found;
  };
}

/** With nanoseconds, and inodes that may be larger than what a number keeps apart. Undefined when there is no way to it. */
function look(folder: string): BigIntStats | undefined {
  try {
    return statSync(folder, { bigint: true });
  } catch {
    return undefined;
  }
}

function isUnchanged(one: BigIntStats, other: BigIntStats): boolean {
  return one.ino === other.ino && one.dev === other.dev && one.ctimeNs === other.ctimeNs;
}
