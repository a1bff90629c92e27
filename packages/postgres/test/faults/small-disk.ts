import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system of its own that is soon full. */
export interface SmallDisk {
  readonly path: string;
  /** Makes some room. */
  relieve(): void;
  /** Ends it; nobody may have a file open there. */
  remove(): void;
}

const MEGABYTES = 24;
/** So much room can be made. */
const BALLAST = 6 * 1024 * 1024;

/** Mounts one that belongs to the owner of a directory; undefined where that is not permitted. */
export function mountSmallDisk(like: string): SmallDisk | undefined {
  const { uid, gid } = statSync(like);
  const directory = mkdtempSync(join(tmpdir(), 'flags-disk-'));
  const options = `size=${MEGABYTES}m,uid=${uid},gid=${gid},mode=0755`;
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', directory], { stdio: 'ignore' });
  } catch {
    rmdirSync(directory);
    return undefined;
  }
  const path = join(directory, 'tables');
  mkdirSync(path);
  chownSync(path, uid, gid);
  const ballast = join(directory, 'ballast');
  writeFileSync(ballast, Buffer.alloc(BALLAST));
  return {
    path,
    relieve: () => rmSync(ballast),
    remove() {
      execFileSync('umount', [directory]);
      rmdirSync(directory);
    },
  };
}
