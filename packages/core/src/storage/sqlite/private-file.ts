import { closeSync, existsSync, openSync, readlinkSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Only the owner may read and write, because the database holds token hashes and the event log. */
const OWNER_ONLY = 0o600;
/** The number of symbolic links that SQLite follows. */
const MOST_LINKS = 100;

/**
 * Creates an empty file that only its owner can read. An existing file keeps its mode.
 *
 * SQLite opens an empty file as a new database, and gives its mode to the journal, `-wal` and `-shm`. The function never opens
 * an existing file: closing it would release the locks that other connections of this process hold. It never throws:
 * SQLite reports the same fault when it opens the path.
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

/** Returns the target of a symbolic link whose target does not exist yet. */
function targetOfLink(path: string): string | undefined {
  try {
    return resolve(dirname(path), readlinkSync(path));
  } catch {
    return undefined;
  }
}
