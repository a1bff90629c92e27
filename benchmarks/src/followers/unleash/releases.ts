import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A release of unleash-server, and the major version of Node that it needs. */
export interface Release {
  readonly version: string;
  readonly node: number;
}

/** The oldest that followers support, and the current one. */
export const RELEASES: readonly Release[] = [
  { version: '4.19.5', node: 14 },
  { version: '8.2.0', node: 22 },
];

/** A Node for releases that need a newer one than this process has: a package of the registry. */
const NEWER_NODE = { name: `node-${process.platform}-${process.arch}`, version: '24' };
const CACHE = fileURLToPath(new URL('../../../../node_modules/.cache/unleash-server/', import.meta.url));

/** The programs of an installed release. */
export interface Programs {
  readonly node: string;
  readonly server: string;
}

/**
 * Returns the programs. Installs them with npm into `node_modules/.cache` unless they are there: they are not dependencies of
 * this repository.
 *
 * @throws Error if npm fails
 */
export function installRelease({ version, node }: Release): Programs {
  const folder = join(CACHE, version);
  const isNewEnough = Number.parseInt(process.versions.node, 10) >= node;
  const server = join(folder, 'node_modules/unleash-server/dist/server.js');
  const ownNode = join(folder, 'node_modules', NEWER_NODE.name, 'bin/node');
  const packages = [
    ...(existsSync(server) ? [] : [`unleash-server@${version}`]),
    ...(isNewEnough || existsSync(ownNode) ? [] : [`${NEWER_NODE.name}@${NEWER_NODE.version}`]),
  ];
  if (packages.length > 0) {
    console.error(`Installing ${packages.join(' and ')}, up to some minutes …`);
    mkdirSync(folder, { recursive: true });
    if (!existsSync(join(folder, 'package.json'))) writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
    const options = ['--no-audit', '--no-fund', '--omit=dev', '--ignore-scripts', '--loglevel=error'];
    execFileSync('npm', ['install', ...options, ...packages], { cwd: folder, stdio: ['ignore', 2, 2] });
  }
  return { node: isNewEnough ? process.execPath : ownNode, server };
}
