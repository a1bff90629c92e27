/** The one CommonJS module: in both published formats `require` finds the host's own driver. */
const loadDriver = (): unknown => require('pg');

export = { loadDriver };
