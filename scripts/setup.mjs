// Installs the dependencies with pnpm, unless node_modules already has them, and generates what git does not have.
//
//   node scripts/setup.mjs           all dependencies, except those of the documentation site
//   node scripts/setup.mjs server    only those that examples/server needs to be built and run
//   node scripts/setup.mjs site      all dependencies
//
// An installation also serves what needs fewer dependencies, and never becomes smaller. It serves every Node, but for
// better-sqlite3, which is compiled for one: .pnpmfile.cjs leaves it out where Node has SQLite.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runWithProgress } from './progress.mjs';

const PNPM = 'pnpm@12.21.0';
const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const DRIVER = 'better-sqlite3';
/** Inside node_modules, so that deleting that folder also deletes it. */
const STATE_FILE = join(ROOT, 'node_modules/.setup.json');
/** The state of pnpm. */
const MODULES_FILE = join(ROOT, 'node_modules/.modules.yaml');

/**
 * Options of pnpm for each scope, from the smallest to the largest. --filter always includes the root. Its dependencies
 * build the server. Its devDependencies are most of the bytes; --prod omits them.
 */
const SCOPES = {
  server: ['--prod', '--filter-prod', '@flags/example-server...'],
  all: ['--filter', '!@flags/site'],
  site: [],
};

/** The driver is compiled for one binary interface of Node. */
const nodeAbi = process.versions.modules;
/** `driverAbi`: the Node for which better-sqlite3 is known to be compiled. */
let installed = readState();

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { driver } = await setUp(process.argv[2] ?? 'all');
  await driver;
  // People run this one themselves; `prestart`, `pretest` and so on run before another command.
  if (process.env.npm_lifecycle_event === 'setup') console.log('Everything is installed. Next: npm run build');
}

/**
 * Resolves when the packages are there. The returned promise resolves when the driver of SQLite is there, too: compiling it
 * takes a minute of one core, and whatever does not load it need not wait. Exits if the installation fails.
 *
 * @param requested a name of `SCOPES`
 */
export async function setUp(requested) {
  const fingerprint = fingerprintOfDependencies();
  const isCurrent = installed?.fingerprint === fingerprint && rank(installed.scope) >= rank(requested);
  let driver = Promise.resolve();
  if (!isCurrent) {
    const linked = new Promise((resolve) => {
      driver = install(requested, fingerprint, resolve);
    });
    await Promise.race([linked, driver]);
  }
  driver = driver.then(ensureDriver);
  await import('./generate.mjs');
  return { driver };
}

/** @param onLinked called when all files are in node_modules, before what pnpm compiles */
async function install(requested, fingerprint, onLinked) {
  const scope = installed !== undefined && rank(installed.scope) > rank(requested) ? installed.scope : requested;
  // There is no fingerprint while pnpm runs, so that an interrupted installation does not count as complete.
  writeState({ scope });
  await installPackages(scope, onLinked);
  writeState({ scope, fingerprint });
}

/** Compiles better-sqlite3, unless it works: after an installation by a Node that needs none, or by another version of Node. */
async function ensureDriver() {
  if (hasSqlite(process.versions.node) || installed.driverAbi === nodeAbi) return;
  if (!isDriverUsable() && !existsSync(join(ROOT, 'node_modules', DRIVER))) {
    forgetSkipped();
    await installPackages(installed.scope);
  }
  if (!isDriverUsable()) {
    // pnpm may have reused a build of another version of Node.
    const title = `Compiling ${DRIVER} for Node ${process.versions.node}, about a minute`;
    await pnpm(title, ['rebuild', '--recursive', '--config.sideEffectsCache=false', DRIVER]);
  }
  if (!isDriverUsable()) {
    console.error(
      `${DRIVER} could not be compiled. Install Python and a C++ compiler, or run Node 22.16 or newer, which has SQLite.`,
    );
    process.exit(1);
  }
  writeState({ ...installed, driverAbi: nodeAbi });
}

function installPackages(scope, onLinked) {
  const title = 'Installing the dependencies, up to a few minutes the first time';
  return pnpm(
    title,
    ['install', '--frozen-lockfile', '--config.confirmModulesPurge=false', ...SCOPES[scope]],
    onLinked,
  );
}

/** pnpm remembers which optional packages it has left out, and does not ask again whether they fit this Node. */
function forgetSkipped() {
  const state = JSON.parse(readFileSync(MODULES_FILE, 'utf8'));
  writeFileSync(MODULES_FILE, JSON.stringify({ ...state, skipped: [] }));
}

function rank(scope) {
  return Object.keys(SCOPES).indexOf(scope);
}

async function pnpm(title, options, onLinked) {
  const { onLine, describeFailure } = createReader(onLinked);
  const words = ['npx', '--yes', '--prefer-offline', PNPM, ...options, '--reporter=ndjson'];
  const code = await runWithProgress(title, words, { cwd: ROOT, activity: 'npx, fetching pnpm', onLine });
  if (code === 0) return;
  console.error(describeFailure());
  process.exit(code);
}

/** Reads the output of pnpm: JSON lines, and text before pnpm itself has been installed. */
function createReader(onLinked) {
  const packages = { resolved: new Set(), fetched: new Set(), found_in_store: new Set(), imported: new Set() };
  const messages = [];
  return {
    describeFailure: () => messages.slice(-50).join('\n'),
    /** Returns what pnpm does. */
    onLine(text) {
      const { name, level, message, err, status, stage, ...event } = parse(text);
      if (level !== 'debug' && level !== 'info') messages.push(err?.message ?? message ?? text);
      if (stage === 'importing_done') onLinked?.();
      if (name === 'pnpm:progress') {
        packages[status]?.add(event.packageId ?? event.to);
        const fetched = packages.fetched.size + packages.found_in_store.size;
        return `pnpm, ${packages.resolved.size} packages, ${fetched} fetched, ${packages.imported.size} linked`;
      }
      if (name !== 'pnpm:lifecycle') return undefined;
      if (event.line !== undefined) messages.push(event.line);
      return event.exitCode === undefined ? `compiling ${event.depPath}, about a minute` : 'pnpm';
    },
  };
}

function parse(text) {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

/** Whether this version of Node has the SQLite that @flags/core needs. .pnpmfile.cjs names the same versions. */
function hasSqlite(node) {
  const [major, minor] = node.split('.').map(Number);
  return major >= 24 || (major === 22 && minor >= 16);
}

/** Whether the native module loads: it is compiled for one binary interface of Node. */
function isDriverUsable() {
  const program = `new (require('${DRIVER}'))(':memory:')`;
  return spawnSync(process.execPath, ['-e', program], { cwd: ROOT, stdio: 'ignore' }).status === 0;
}

/** Changes whenever pnpm could install other files. */
function fingerprintOfDependencies() {
  const hash = createHash('sha256');
  const parents = ['packages', 'examples', 'test'].flatMap((parent) =>
    readdirSync(join(ROOT, parent)).map((name) => join(parent, name)),
  );
  const manifests = ['.', 'benchmarks', 'site', ...parents.sort()].map((folder) => join(folder, 'package.json'));
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', '.pnpmfile.cjs', ...manifests]) {
    if (existsSync(join(ROOT, file))) hash.update(file).update(readFileSync(join(ROOT, file)));
  }
  return hash.digest('hex');
}

/** The installed dependencies. Without a state file, pnpm was run directly: all dependencies, maybe outdated. */
function readState() {
  if (existsSync(STATE_FILE)) return JSON.parse(readFileSync(STATE_FILE, 'utf8'));
  return existsSync(MODULES_FILE) ? { scope: 'site' } : undefined;
}

function writeState(state) {
  installed = state;
  mkdirSync(dirname(STATE_FILE), { recursive: true });
  writeFileSync(STATE_FILE, JSON.stringify(state));
}
