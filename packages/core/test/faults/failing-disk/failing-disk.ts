import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the disk does: after so many calls that work, so many fail; all that follow when there is no number of them. */
export interface DiskFault {
  /** `all`: flushes are counted, and while they fail writes do as well. */
  readonly call: 'flush' | 'write' | 'all';
  /** How the path of the file ends. */
  readonly file: string;
  readonly after?: number;
  readonly times?: number;
}

/** A disk of a process that fails when it is told to. */
export interface FailingDisk {
  /** With these in its environment, a process has this disk. */
  readonly environment: Readonly<Record<string, string>>;
  /** Has calls fail from now on, or none. */
  readonly fail: (fault: DiskFault | undefined) => void;
}

const SIZE = 128;
const FOR_GOOD = 1_000_000_000;

/** Compiles what is preloaded; undefined where there is no compiler, or no way to preload. */
export function compileFailingDisk(directory: string): string | undefined {
  if (process.platform !== 'linux') return undefined;
  const library = join(directory, 'failing-disk.so');
  const source = join(__dirname, 'failing-disk.c');
  const { status } = spawnSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl']);
  return status === 0 ? library : undefined;
}

/** @param name a file, which says what fails */
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
