/**
 * Returns the version of the installed better-sqlite3, or undefined if it cannot be found, as in an ESM bundle. `require`
 * works in both published formats.
 */
function findDriverVersion(): string | undefined {
  try {
    const { version }: { readonly version?: unknown } = require('better-sqlite3/package.json');
    return typeof version === 'string' ? version : undefined;
  } catch {
    return undefined;
  }
}

export = { findDriverVersion };
