import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The fault of a disk: the number of calls that succeed first, and the number that then fail. Default: all later calls.
 */
export interface DiskFault {
  /** `all`: flushes are counted, and while they fail writes do as well. */
  readonly call: 'flush' | 'write' | 'all';
  /** The end of the file's path. */
  readonly file: string;
  readonly after?: number;
  readonly times?: number;
}

/** The disk of a process, which fails on demand. */
export interface FailingDisk {
  /** The environment variables with which a process uses this disk. */
  readonly environment: Readonly<Record<string, string>>;
  /** Makes calls fail from now on, or none. */
  readonly fail: (fault: DiskFault | undefined) => void;
}

const SIZE = 128;
const FOR_GOOD = 1_000_000_000;

/** Compiles the preloaded library; undefined without a compiler, or where preloading is not supported. */
export function compileFailingDisk(directory: string): string | undefined {
  if (process.platform !== 'linux') return undefined;
  const library = join(directory, 'failing-disk.so');
  const source = join(__dirname, 'failing-disk.c');
  const { status } = spawnSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl']);
  return status === 0 ? library : undefined;
}

/** @param name a file that names the failing calls */
export function failingDisk(library: string, name: string): FailingDisk {
  let number = 0;
  const say = (text: string) => writeFileSync(name, text.padEnd(SIZE, ' '), { flag: number === 0 ? 'w' : 'r+' });
  const fail: FailingDisk['fail'] = (fault) => {
    const { call, file, after = 0, times = FOR_GOOD } = fault ?? {};
    say(call ? `${call} ${file} ${after} ${times} ${number}` : '');
    number += 1;
  };
  fail(undefined);
  return { environment: { LD_PRELOAD: library, DISK_FAULT: name }, fail };
}
