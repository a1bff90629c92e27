/** The one CommonJS module: in both published formats `require` finds the host's own driver. */
const loadDriver = (): unknown => require('better-sqlite3');

/** The path of the file that {@link loadDriver} would load. */
const locateDriver = (): string => require.resolve('better-sqlite3');

export = { loadDriver, locateDriver };
