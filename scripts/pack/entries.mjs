// What a package publishes: its entries, as the `exports` of its package.json name them.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PACKAGES = join(dirname(fileURLToPath(import.meta.url)), '../../packages');

/** The published packages, each after those that it depends on. */
export const PUBLISHED = /** @type {const} */ ([
  'core',
  'http',
  'express',
  'follower',
  'openfeature',
  'opentelemetry',
  'postgres',
  'ui',
  'cli',
]);

/** The folder of a package that its tarball holds instead of the compiled files. */
export const OUTPUT = 'lib';

/**
 * Entries with a CommonJS file and declarations of their own, because they are loaded without the rest of the package,
 * also by runtimes that have no modules of Node.
 */
const ALONE = { '@flags/core': ['evaluate', 'evaluate/patterns', 'schema'] };

export function readManifest(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

/** Returns the entries that are modules: `name` names the published files, `compiled` the file that `tsc -b` writes. */
export function entriesOf({ name: ofPackage, exports = {} }) {
  return Object.entries(exports)
    .filter(([, file]) => isCompiled(file))
    .map(([subpath, file]) => {
      const name = subpath === '.' ? 'index' : subpath.slice(2);
      return { subpath, name, compiled: file, isAlone: ALONE[ofPackage]?.includes(name) ?? false };
    });
}

/** Returns the declarations that `tsc -b` writes for a compiled file. */
export function declarationsOf(compiled) {
  return compiled.replace(/\.js$/, '.d.ts');
}

export function isCompiled(file) {
  return /^\.\/dist\/.*\.js$/.test(file);
}
