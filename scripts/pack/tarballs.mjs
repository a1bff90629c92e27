// Packs packages into a folder, as they are published. Needs Node and npm alone.
//
//   node scripts/pack/tarballs.mjs FOLDER                    all packages
//   node scripts/pack/tarballs.mjs FOLDER core postgres      these
//
// With FLAGS_PACKED, the folder of an earlier run, it copies them from there: the checks of one run so pack once.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PUBLISHED } from './entries.mjs';

const PNPM = 'pnpm@12.21.0';
const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');
const earlier = process.env.FLAGS_PACKED;

const [to, ...given] = process.argv.slice(2);
const names = given.length > 0 ? given : [...PUBLISHED];
const folder = resolve(to);
mkdirSync(folder, { recursive: true });
if (earlier) {
  for (const name of names) copyFileSync(join(earlier, tarballOf(name)), join(folder, tarballOf(name)));
} else {
  const folders = names.map((name) => `packages/${name}`);
  run(process.execPath, 'scripts/pack/main.mjs', ...folders);
  // The scripts of a package would write its files again, and need a shell in the PATH.
  const packages = folders.flatMap((path) => ['--filter', `./${path}`]);
  const options = ['--config.ignore-scripts=true', 'pack', '--pack-destination', folder];
  run('npx', '--yes', '--prefer-offline', PNPM, '--recursive', ...packages, ...options);
}

/** The name of the file in the earlier folder: its version is not asked for. */
function tarballOf(name) {
  const found = readdirSync(earlier).find((file) => new RegExp(`^flags-${name}-\\d.*\\.tgz$`).test(file));
  if (found === undefined) throw new Error(`${earlier} has no package ${name}.`);
  return found;
}

function run(command, ...args) {
  // npx runs its command by a shell, which it looks up in the PATH unless this names it.
  const env = { ...process.env, npm_config_script_shell: '/bin/sh' };
  const { status } = spawnSync(command, args, { cwd: ROOT, env, stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) process.exit(status ?? 1);
}
