// Installs the dependencies with pnpm, unless node_modules already has them, bundles the admin page, and compiles the schemas.
//
//   node scripts/setup.mjs           all dependencies, except those of the documentation site
//   node scripts/setup.mjs server    only those that examples/server needs to be built and run
//   node scripts/setup.mjs site      all dependencies
//
// An installation also serves what needs fewer dependencies, and never becomes smaller.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PNPM = 'pnpm@12.21.0';
const QUIET = ['--reporter=append-only', '--loglevel=warn'];
const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
/** Inside node_modules, so that deleting that folder also deletes it. */
const STATE_FILE = join(ROOT, 'node_modules/.setup.json');

/**
 * Options of pnpm for each scope, from the smallest to the largest. --filter always includes the root. Its dependencies
 * build the server. Its devDependencies are most of the bytes; --prod omits them.
 */
const SCOPES = {
  server: ['--prod', '--filter-prod', '@flags/example-server...'],
  all: ['--filter', '!@flags/site'],
  site: [],
};

const requested = process.argv[2] ?? 'all';
/** `setup` when people run it themselves, `prestart`, `pretest` and so on before another command. */
const command = process.env.npm_lifecycle_event;
const fingerprint = fingerprintOfDependencies();
const nodeAbi = process.versions.modules;
const installed = readState();

const isCurrent = installed?.fingerprint === fingerprint && installed.nodeAbi === nodeAbi;
const isSufficient = installed !== undefined && rank(installed.scope) >= rank(requested);
if (!isCurrent || !isSufficient) install();
write('packages/ui/bundle/build.mjs');
write('scripts/compile-schemas.mjs');
if (command === 'setup') console.log('Everything is installed. Next: npm run build');
if (command === 'prestart') console.log('Compiling the server, up to a minute at the first start …');

function install() {
  const scope = installed !== undefined && rank(installed.scope) > rank(requested) ? installed.scope : requested;
  // There is no fingerprint while pnpm runs, so that an interrupted installation does not count as complete.
  mkdirSync(dirname(STATE_FILE), { recursive: true });
  writeFileSync(STATE_FILE, JSON.stringify({ scope }));
  console.log('Installing the dependencies, up to a few minutes the first time …');
  pnpm('install', '--frozen-lockfile', '--config.confirmModulesPurge=false', ...QUIET, ...SCOPES[scope]);
  // pnpm may have reused a build of another version of Node.
  if (!isDriverUsable()) pnpm('rebuild', '--recursive', '--config.sideEffectsCache=false', 'better-sqlite3');
  writeFileSync(STATE_FILE, JSON.stringify({ scope, fingerprint, nodeAbi }));
}

function rank(scope) {
  return Object.keys(SCOPES).indexOf(scope);
}

function pnpm(...options) {
  const { status } = spawnSync('npx', ['--yes', '--prefer-offline', PNPM, ...options], { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

/** Runs a script that writes modules which the compiler needs: the admin page, and the compiled schemas. */
function write(script) {
  const { status } = spawnSync(process.execPath, [script], { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

/** Whether the native module loads: it is compiled for one binary interface of Node. */
function isDriverUsable() {
  const program = "new (require('better-sqlite3'))(':memory:')";
  const options = { cwd: join(ROOT, 'examples/server'), stdio: 'ignore' };
  return spawnSync(process.execPath, ['-e', program], options).status === 0;
}

/** Changes whenever pnpm could install other files. */
function fingerprintOfDependencies() {
  const hash = createHash('sha256');
  const parents = ['packages', 'examples', 'test'].flatMap((parent) =>
    readdirSync(join(ROOT, parent)).map((name) => join(parent, name)),
  );
  const manifests = ['.', 'benchmarks', 'site', ...parents.sort()].map((folder) => join(folder, 'package.json'));
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', ...manifests]) {
    if (existsSync(join(ROOT, file))) hash.update(file).update(readFileSync(join(ROOT, file)));
  }
  return hash.digest('hex');
}

/** The installed dependencies. Without a state file, pnpm was run directly: all dependencies, maybe outdated. */
function readState() {
  if (existsSync(STATE_FILE)) return JSON.parse(readFileSync(STATE_FILE, 'utf8'));
  return existsSync(join(ROOT, 'node_modules/.modules.yaml')) ? { scope: 'site' } : undefined;
}
