/** A CommonJS module, because `require` finds the host's driver from both published formats. */
const loadDriver = (): unknown => require('pg');

export = { loadDriver };
