import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Why this driver must not be used on this Node, or undefined. better-sqlite3 13 ends the whole process when it opens a
 * database on a Node before 22.14, and nothing can catch that.
 */
export function driverRefusal({ driver, node }: { driver: string; node: string }): string | undefined {
  if (isAtLeast(node, [22, 14]) || !isAtLeast(driver, [13, 0])) return undefined;
  return (
    `better-sqlite3 ${driver} crashes on Node ${node} when it opens a database. ` +
    'Install better-sqlite3@12, or run Node 22.14 or newer.'
  );
}

/**
 * The version of the better-sqlite3 package that a file belongs to. The package's own `exports` do not let its
 * `package.json` be required, so it is looked for on disk; undefined when it is not there, as in a bundle.
 */
export function driverVersion(file: string): string | undefined {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    const manifest = join(folder, 'package.json');
    if (!existsSync(manifest)) continue;
    const { name, version }: { name?: unknown; version?: unknown } = JSON.parse(readFileSync(manifest, 'utf8'));
    if (name === 'better-sqlite3' && typeof version === 'string') return version;
  }
  return undefined;
}

function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [itsMajor = 0, itsMinor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  return itsMajor > major || (itsMajor === major && itsMinor >= minor);
}
