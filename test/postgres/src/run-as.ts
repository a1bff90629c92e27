import { execFileSync } from 'node:child_process';
import { chownSync, cpSync, mkdtempSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** PostgreSQL refuses to run as root. For root it runs as this user. */
const NOBODY = { uid: 65_534, gid: 65_534 } as const;

export type RunAs = Partial<typeof NOBODY>;

export function runAs(): RunAs {
  return process.getuid?.() === 0 ? NOBODY : {};
}

/** Creates a temporary directory for the server's user. Its path is short, because sockets need that. */
export function serverDirectory({ uid, gid }: RunAs): string {
  const directory = mkdtempSync(join(uid === undefined ? tmpdir() : '/tmp', 'flags-pg-'));
  if (uid !== undefined && gid !== undefined) chownSync(directory, uid, gid);
  return directory;
}

/** Copies the programs into the server's directory if its user cannot read theirs (`/root`). */
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
