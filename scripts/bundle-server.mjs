// Bundles examples/server from the sources into examples/server/bundle/main.cjs. It checks no types: tsc -b does.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { startProgress } from './progress.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const SERVER = join(ROOT, 'examples/server');
const DRIVERS = ['better-sqlite3', 'pg'];

/** Resolves the packages of the workspace to their sources: the export `dist/NAME.js` is `src/NAME.ts`. */
const sourcesOfPackages = {
  name: 'sources-of-packages',
  setup({ onResolve }) {
    const entries = entriesOfPackages();
    onResolve({ filter: /^@flags\// }, ({ path }) => {
      const source = entries.get(path);
      return source ? { path: source } : { errors: [{ text: `No package of the workspace exports ${path}.` }] };
    });
  },
};

/** Returns the source of each entry, such as `@flags/core/sqlite`. */
function entriesOfPackages() {
  const folders = readdirSync(join(ROOT, 'packages')).map((name) => join(ROOT, 'packages', name));
  const entries = folders.flatMap((folder) => {
    const { name, exports = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return Object.entries(exports).flatMap(([entry, conditions]) => {
      const module = moduleOf(conditions);
      return module === undefined ? [] : [[name + entry.slice(1), join(folder, 'src', `${module}.ts`)]];
    });
  });
  return new Map(entries);
}

/** Returns the name of a module by the first JavaScript file in the conditions of an export. */
function moduleOf(conditions) {
  if (typeof conditions === 'string') return /^\.\/\w+\/(.+)(?<!\.d)\.[cm]?[jt]s$/.exec(conditions)?.[1];
  for (const condition of Object.values(conditions)) {
    const module = moduleOf(condition);
    if (module !== undefined) return module;
  }
  return undefined;
}

const stop = startProgress('Bundling the server, about a second', () => 'esbuild');
await build({
  absWorkingDir: SERVER,
  entryPoints: ['src/main.ts'],
  outfile: 'bundle/main.cjs',
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  // As CommonJS, because packages in it use `require`.
  format: 'cjs',
  external: [...DRIVERS, 'pg-native'],
  plugins: [sourcesOfPackages],
  keepNames: true,
  logLevel: 'warning',
});
stop();
