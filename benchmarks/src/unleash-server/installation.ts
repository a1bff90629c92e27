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

/** Matches the dependencies that the server needs only when it is built from source. */
const BUILD_ONLY = /^(@types\/.*|esbuild|typescript|preact|@preact\/signals)$/;

type Versions = Readonly<Record<string, string>>;

/** Installs what the reference server needs into an empty folder: our packages as they are published, and their dependencies. */
export async function installFlags(folder: string): Promise<Installation> {
  const dependencies = await dependenciesOf(join(repository, 'examples/server'));
  const others = Object.entries(dependencies).filter(
    ([name, version]) => !version.startsWith('workspace:') && !BUILD_ONLY.test(name),
  );
  const own = [...(await workspacePackages(dependencies))];
  const packed = await Promise.all(own.map(async (name) => [name, await pack(name, folder)] as const));
  const installed = await install(join(folder, 'server'), Object.fromEntries([...others, ...packed]));
  return { ...installed, bytes: installed.bytes + (await compiledDriver()) };
}

async function dependenciesOf(folder: string): Promise<Versions> {
  const { dependencies = {} } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
    dependencies?: Versions;
  };
  return dependencies;
}

/** Returns the names of the packages of this workspace among the dependencies, and among theirs. */
async function workspacePackages(dependencies: Versions, known = new Set<string>()): Promise<ReadonlySet<string>> {
  for (const [name, version] of Object.entries(dependencies)) {
    if (!version.startsWith('workspace:') || known.has(name)) continue;
    known.add(name);
    await workspacePackages(await dependenciesOf(folderOf(name)), known);
  }
  return known;
}

function folderOf(name: string): string {
  return join(repository, 'packages', name.replace('@flags/', ''));
}

/** Our package's tarball. */
async function pack(name: string, folder: string): Promise<string> {
  const destination = join(folder, name.replace('/', '-'));
  await mkdir(destination, { recursive: true });
  await run('npx', ['--yes', '--prefer-offline', 'pnpm@12.21.0', 'pack', '--pack-destination', destination], {
    cwd: folderOf(name),
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
