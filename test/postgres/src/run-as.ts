import { execFileSync } from 'node:child_process';
import { chownSync, cpSync, mkdtempSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** PostgreSQL refuses to run as root: there it runs as the user who owns nothing. */
const NOBODY = { uid: 65_534, gid: 65_534 } as const;

export type RunAs = Partial<typeof NOBODY>;

export function runAs(): RunAs {
  return process.getuid?.() === 0 ? NOBODY : {};
}

/** A new temporary directory that belongs to whom the server runs as. Its path is short, for sockets. */
export function serverDirectory({ uid, gid }: RunAs): string {
  const directory = mkdtempSync(join(uid === undefined ? tmpdir() : '/tmp', 'flags-pg-'));
  if (uid !== undefined && gid !== undefined) chownSync(directory, uid, gid);
  return directory;
}

/** The programs, copied into the server's directory when their own is closed to whom it runs as (`/root`). */
export function programsWithinReach(programs: string, { uid }: RunAs, directory: string): string {
  if (uid === undefined || isOpenToAll(join(programs, 'postgres'))) return programs;
  const copy = join(directory, 'native');
  cpSync(dirname(programs), copy, { recursive: true, verbatimSymlinks: true });
  execFileSync('chown', ['-R', String(uid), copy]);
  return join(copy, 'bin');
}

function isOpenToAll(path: string): boolean {
  const forOthers = (statSync(path).mode & 0o005) === 0o005;
  return forOthers && (path === dirname(path) || isOpenToAll(dirname(path)));
}
