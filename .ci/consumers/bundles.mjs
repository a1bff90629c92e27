// Bundles a program with the SQLite storage as applications do, and runs it. better-sqlite3 has a native part, so it has to be
// external.
import { execFileSync } from 'node:child_process';
import { build } from 'esbuild';
import webpack from 'webpack';

const entry = './bundled.mjs';

for (const format of ['cjs', 'esm']) {
  const outfile = `bundle-esbuild.${format === 'esm' ? 'mjs' : 'cjs'}`;
  const external = ['better-sqlite3'];
  await build({ entryPoints: [entry], outfile, bundle: true, platform: 'node', format, external, logLevel: 'error' });
  run(outfile);
}

await new Promise((resolve, reject) => {
  const options = {
    entry,
    mode: 'production',
    target: 'node',
    output: { path: process.cwd(), filename: 'bundle-webpack.cjs' },
    externals: { 'better-sqlite3': 'commonjs better-sqlite3' },
  };
  webpack(options, (error, stats) => {
    if (error || stats.hasErrors()) reject(error ?? new Error(stats.toString('errors-only')));
    else resolve();
  });
});
run('bundle-webpack.cjs');

function run(file) {
  execFileSync(process.execPath, [file, `${file}.db`], { stdio: 'inherit' });
  console.log(`${file}: ok`);
}
