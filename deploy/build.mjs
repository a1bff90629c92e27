// Builds the folder of a container: the reference server with the packed packages, and what they need in production.
//
//   node deploy/build.mjs TARGET
//
// Needs Node and npm alone. The Dockerfile and a test run it. better-sqlite3 is left out: it would need a compiler, and Node 24 has
// SQLite itself.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const PNPM = 'pnpm@12.21.0';
const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const SERVER = join(ROOT, 'examples/server');

const [to] = process.argv.slice(2);
if (to === undefined) fail('Name the folder to build: node deploy/build.mjs TARGET');
const target = resolve(to);
if (existsSync(target) && readdirSync(target).length > 0) fail(`${target} is not empty.`);
const tarballs = join(target, 'packages');
mkdirSync(tarballs, { recursive: true });

if (!existsSync(join(ROOT, 'node_modules'))) {
  run('npx', ['--yes', '--prefer-offline', PNPM, 'install', '--frozen-lockfile', '--ignore-scripts'], ROOT);
}
run(process.execPath, ['scripts/generate.mjs'], ROOT);
run(process.execPath, ['node_modules/typescript/bin/tsc', '-b', 'examples/server'], ROOT);

const { dependencies, type } = readManifest(SERVER);
const packed = pack(Object.keys(dependencies).filter((name) => name.startsWith('@flags/')));
const external = Object.entries(dependencies).filter(([name]) => !packed.has(name) && name !== 'better-sqlite3');
const manifest = {
  name: 'flags-server',
  private: true,
  type,
  // Dependencies among the packages are these tarballs, too: npm must not ask a registry for them.
  dependencies: Object.fromEntries([...external, ...packed]),
  overrides: Object.fromEntries([...packed.keys()].map((name) => [name, `$${name}`])),
};
writeFileSync(join(target, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
const quiet = ['--omit=dev', '--omit=peer', '--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts'];
run('npm', ['install', ...quiet], target);
cpSync(join(SERVER, 'dist'), join(target, 'dist'), { recursive: true });
rmSync(tarballs, { recursive: true });
console.log(`Built ${target}. Start it: node dist/main.js`);

/** Packs packages with the workspace's packages that they depend on. Returns their tarballs by name. */
function pack(names) {
  const found = new Map();
  for (const queue = [...names]; queue.length > 0; ) {
    const name = queue.pop();
    if (found.has(name)) continue;
    const folder = join(ROOT, 'packages', name.slice('@flags/'.length));
    const before = new Set(readdirSync(tarballs));
    // The scripts of a package need a shell in the PATH, so its bundle is made here.
    run(process.execPath, [join(ROOT, 'scripts/pack/main.mjs'), '--code-only'], folder);
    const options = ['--config.ignore-scripts=true', '--pack-destination', tarballs];
    run('npx', ['--yes', '--prefer-offline', PNPM, 'pack', ...options], folder);
    const file = readdirSync(tarballs).find((one) => !before.has(one));
    found.set(name, `file:packages/${file}`);
    queue.push(...Object.keys(readManifest(folder).dependencies ?? {}).filter((one) => one.startsWith('@flags/')));
  }
  return found;
}

function readManifest(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

function run(command, args, cwd) {
  // npx runs its command by a shell, which it looks up in the PATH unless this names it.
  const env = { ...process.env, npm_config_script_shell: '/bin/sh' };
  const { status, error } = spawnSync(command, args, { cwd, env, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) fail(`${command} ${args.join(' ')} failed${error ? `: ${error.message}` : '.'}`);
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
