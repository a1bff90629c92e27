/**
 * Returns the version of the better-sqlite3 that `load` finds, or undefined if it finds none, as in an ESM bundle. `require`
 * works in both published formats.
 */
function findDriverVersion(load = require): string | undefined {
  try {
    const { version }: { readonly version?: unknown } = load('better-sqlite3/package.json');
    return typeof version === 'string' ? version : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the file and the class of the better-sqlite3 that `load` finds; undefined if it finds none, as in an ESM bundle. */
function findDriver(load = require): { readonly file: string; readonly driver: unknown } | undefined {
  try {
    return { file: load.resolve('better-sqlite3'), driver: load('better-sqlite3') };
  } catch {
    return undefined;
  }
}

export = { findDriver, findDriverVersion };
