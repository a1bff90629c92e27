// Bundles programs with the SQLite and the PostgreSQL storage as applications do, and runs them. The drivers are external:
// better-sqlite3 has a native part, and an ESM bundle cannot hold pg, a CommonJS package that requires modules of Node.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import webpack from 'webpack';

const DRIVERS = ['better-sqlite3', 'pg'];
const EXTENSIONS = { cjs: 'cjs', esm: 'mjs' };

for (const program of ['bundled', 'bundled-postgres']) {
  const entry = `./${program}.mjs`;
  for (const format of ['cjs', 'esm']) {
    await bundleWithEsbuild(entry, {
      outfile: `bundle-esbuild-${program}.${EXTENSIONS[format]}`,
      format,
      external: DRIVERS,
    });
  }
  await bundleWithWebpack(entry, `bundle-webpack-${program}.cjs`);
}
// The import that only adds types has an effect for the compiler, so that no bundler may warn that it has none.
const { warnings } = await build({
  stdin: { contents: "import '@flags/express/request';", resolveDir: process.cwd() },
  bundle: true,
  platform: 'node',
  write: false,
  logLevel: 'silent',
});
assert.deepEqual(warnings, []);
// pg alone can be inside a CommonJS bundle.
const external = ['pg-native'];
await bundleWithEsbuild('./bundled-postgres.mjs', { outfile: 'bundle-esbuild-with-pg.cjs', format: 'cjs', external });

// For workers and pages: an import of a module of Node fails. RE2 is a chunk of its own, which a document with a pattern loads.
await assertSmall("export * from '@flags/core/evaluate';", 25);
await assertSmall("export * from '@flags/core/schema';", 5);
// A follower has the schemas and features that it uses, and not those of a server.
await assertSmall("export * from '@flags/follower';", 60, 'node');

/** Bundles, and fails if the result, minified and compressed, is larger than so many kB. */
async function assertSmall(contents, kilobytes, platform = 'browser') {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: process.cwd() },
    bundle: true,
    minify: true,
    platform,
    format: 'esm',
    external: ['re2js'],
    write: false,
    logLevel: 'error',
  });
  const size = gzipSync(outputFiles[0].contents).length / 1000;
  assert.ok(size <= kilobytes, `${contents} is ${size} kB, at most ${kilobytes} kB.`);
  console.log(`${contents} ${size} kB`);
}

async function bundleWithEsbuild(entry, options) {
  await build({ entryPoints: [entry], bundle: true, platform: 'node', logLevel: 'error', ...options });
  run(options.outfile);
}

async function bundleWithWebpack(entry, filename) {
  await new Promise((resolve, reject) => {
    const options = {
      entry,
      mode: 'production',
      target: 'node',
      output: { path: process.cwd(), filename },
      externals: Object.fromEntries(DRIVERS.map((name) => [name, `commonjs ${name}`])),
    };
    webpack(options, (error, stats) => {
      if (error || stats.hasErrors()) reject(error ?? new Error(stats.toString('errors-only')));
      else resolve();
    });
  });
  run(filename);
}

function run(file) {
  execFileSync(process.execPath, [file, `${file}.db`], { stdio: 'inherit' });
  console.log(`${file}: ok`);
}
