// Writes the modules of compiled schemas: functions that validate, from the JSON Schemas of each package. Nothing compiles code
// from strings at run time, so that programs may run with `node --disallow-code-generation-from-strings`.
//
//   node scripts/compile-schemas.mjs
//
// A module names the hash of what it was written from. One that is current stays as it is. The set-up, the build, and each run
// of the tests call this, so that none is older than its schemas.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, transform } from 'esbuild';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const require = createRequire(import.meta.url);

/** By the module of a package that lists its schemas: the module to write. */
const MODULES = {
  'packages/core/src/schemas.ts': 'packages/core/src/base/compiled-schemas.ts',
  'packages/follower/src/schemas.ts': 'packages/follower/src/compiled-schemas.ts',
  'packages/http/src/schemas.ts': 'packages/http/src/compiled-schemas.ts',
};

/** Writes the modules that are not current. */
export async function compileAll() {
  await Promise.all(Object.entries(MODULES).map(([list, written]) => compile(list, join(ROOT, written))));
}

async function compile(list, file) {
  const schemas = await readSchemas(list);
  const compiler = readFileSync(join(ROOT, 'scripts/schema-compiler.cjs'));
  const hash = createHash('sha256').update(JSON.stringify(schemas)).update(compiler).digest('hex');
  const start = `// The compiled schemas of inputs. Written by scripts/compile-schemas.mjs; do not edit.\n// ${hash}\n`;
  if (existsSync(file) && readFileSync(file, 'utf8').startsWith(start)) return;
  // Loaded only where there is something to compile.
  const { compileSchemas, SHORTER } = require('./schema-compiler.cjs');
  const { declarations, object, named } = compileSchemas(schemas);
  // Without the exports, because the functions keep their names then.
  const { code } = await transform(declarations, { charset: 'utf8', ...SHORTER });
  writeFileSync(file, `${start}// @ts-nocheck\n${code}export const COMPILED = ${object};\nexport ${named};\n`);
}

/** Reads the schemas of a package from its sources. No engine is opened, and nothing has to be built. */
async function readSchemas(list) {
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: [list],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    logLevel: 'error',
    loader: { '.cts': 'ts' },
    plugins: [{ name: 'sources', setup: useSources }],
  });
  const module = { exports: {} };
  new Function('require', 'module', outputFiles[0].text)(require, module);
  return module.exports.SCHEMAS;
}

/** Replaces the packages of this workspace by their sources, and compiled schemas by nothing. */
function useSources(bundle) {
  const core = join(ROOT, 'packages/core/src');
  bundle.onResolve({ filter: /^@flags\/core/ }, ({ path }) => {
    return { path: join(core, `${path.slice('@flags/core/'.length) || 'index'}.ts`) };
  });
  bundle.onResolve({ filter: /\/compiled-schemas\.js$/ }, () => ({ path: 'none', namespace: 'none' }));
  bundle.onLoad({ filter: /./, namespace: 'none' }, () => ({ contents: 'export const COMPILED = {};' }));
  bundle.onResolve({ filter: /^(better-sqlite3|pg)(\/|$)/ }, () => ({ external: true }));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await compileAll();
