import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A small file system. */
export interface SmallDisk {
  readonly path: string;
  /** Frees some space. */
  relieve(): void;
  /** Unmounts it. No file may be open there. */
  remove(): void;
}

const MEGABYTES = 24;
/** Bytes that `relieve` frees. */
const BALLAST = 6 * 1024 * 1024;

/** Mounts a file system for the owner of a directory. Returns undefined without the permission to mount. */
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
