import { closeSync, existsSync, openSync, readlinkSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Only the owner may read and write: the database holds token hashes and everybody's changes. */
const OWNER_ONLY = 0o600;
/** As many as SQLite follows itself. */
const MOST_LINKS = 100;

/**
 * Creates an empty file that only its owner can read, unless the path is taken; an existing file keeps its mode. SQLite takes
 * an empty file for a new database, and gives its mode to the journal, `-wal` and `-shm` beside it.
 *
 * Never opens an existing file: closing it would release the locks that other connections of this process hold on it. Does
 * not fail either: SQLite finds the same fault when it opens the path.
 */
export function createPrivateFile(path: string): void {
  let target = path;
  for (let links = 0; links < MOST_LINKS; links++) {
    const outcome = tryToCreate(target);
    if (outcome !== 'taken' || existsSync(target)) return;
    const next = targetOfLink(target);
    if (next === undefined) return;
    target = next;
  }
}

function tryToCreate(path: string): 'created' | 'taken' | 'failed' {
  try {
    closeSync(openSync(path, 'wx', OWNER_ONLY));
    return 'created';
  } catch (error) {
    return (error as { code?: unknown }).code === 'EEXIST' ? 'taken' : 'failed';
  }
}

/** Where a symbolic link leads that points to no file yet. */
function targetOfLink(path: string): string | undefined {
  try {
    return resolve(dirname(path), readlinkSync(path));
  } catch {
    return undefined;
  }
}
