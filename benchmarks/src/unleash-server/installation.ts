import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Installation } from './contender.js';

const run = promisify(execFile);
const repository = fileURLToPath(new URL('../../../', import.meta.url));

/** Installs a version of Unleash's server into an empty folder. */
export async function installUnleash(folder: string, version: string): Promise<Installation> {
  return await install(folder, { 'unleash-server': version });
}

/** Installs what the reference server needs into an empty folder: our packages as they are published, and their company. */
export async function installFlags(folder: string): Promise<Installation> {
  const { dependencies } = JSON.parse(await readFile(join(repository, 'examples/server/package.json'), 'utf8')) as {
    dependencies: Readonly<Record<string, string>>;
  };
  const wanted = Object.entries(dependencies).map(async ([name, version]) => [
    name,
    version.startsWith('workspace:') ? await pack(name, folder) : version,
  ]);
  const installed = await install(join(folder, 'server'), Object.fromEntries(await Promise.all(wanted)));
  return { ...installed, bytes: installed.bytes + (await compiledDriver()) };
}

/** Our package's tarball. */
async function pack(name: string, folder: string): Promise<string> {
  const source = join(repository, 'packages', name.replace('@flags/', ''));
  const destination = join(folder, name.replace('/', '-'));
  await mkdir(destination, { recursive: true });
  await run('npx', ['--yes', '--prefer-offline', 'pnpm@12.21.0', 'pack', '--pack-destination', destination], {
    cwd: source,
  });
  const [tarball = ''] = await readdir(destination);
  return `file:${join(destination, tarball)}`;
}

/** Scripts of packages are not run: nothing is compiled, nobody is told. */
async function install(folder: string, dependencies: Readonly<Record<string, string>>): Promise<Installation> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
  const options = '--omit=dev --ignore-scripts --prefer-offline --no-audit --no-fund --loglevel=error';
  await run('npm', ['install', ...options.split(' ')], { cwd: folder });
  const modules = join(folder, 'node_modules');
  const { packages } = JSON.parse(await readFile(join(modules, '.package-lock.json'), 'utf8')) as { packages: object };
  return { folder, packages: Object.keys(packages).length, bytes: await sizeOf(modules) };
}

/** What the script of better-sqlite3 adds: taken from the workspace, compiling it takes a minute. */
async function compiledDriver(): Promise<number> {
  const { resolve } = createRequire(import.meta.url);
  const binary = join(resolve('better-sqlite3/package.json'), '../build/Release/better_sqlite3.node');
  return (await stat(binary)).size;
}

async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
