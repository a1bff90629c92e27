// Publishes packed packages with npm: node scripts/release/publish.mjs FOLDER
//
// A package follows those that it depends on. A version that the registry has already is skipped, so that a release that failed
// half-way can run again.
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const [folder] = process.argv.slice(2);
const packages = new Map(
  readdirSync(folder)
    .filter((file) => file.endsWith('.tgz'))
    .map((file) => {
      const manifest = execFileSync('tar', ['-xzOf', join(folder, file), 'package/package.json'], { encoding: 'utf8' });
      const { name, version, dependencies = {} } = JSON.parse(manifest);
      return [name, { file, version, dependencies: Object.keys(dependencies) }];
    }),
);
if (packages.size === 0) fail(`${folder} has no packages.`);
for (const name of inOrder()) publish(name, packages.get(name));

function publish(name, { file, version }) {
  const id = `${name}@${version}`;
  if (isPublished(id, version)) {
    console.log(`${id} is published already.`);
    return;
  }
  // npm takes the identity of the workflow, and states with it from which commit the package was built.
  const { status } = spawnSync('npm', ['publish', join(folder, file), '--access', 'public', '--provenance'], {
    stdio: 'inherit',
  });
  if (status !== 0) fail(`${id} could not be published. Start the workflow again when the cause is gone.`);
}

/** Asks the registry. Only "not found" means that a version is new: after another failure, nothing is known. */
function isPublished(id, version) {
  const { stdout, stderr } = spawnSync('npm', ['view', id, 'version', '--json', '--prefer-online'], {
    encoding: 'utf8',
  });
  const found = stdout.trim() === '' ? undefined : JSON.parse(stdout);
  if (found === version) return true;
  if (found?.error?.code === 'E404' || (found === undefined && !stderr.includes('npm error'))) return false;
  return fail(`The registry does not say whether it has ${id}: ${found?.error?.summary ?? stderr}`);
}

/** Returns the names, each after those that it depends on. */
function inOrder() {
  const order = new Set();
  const add = (name) => {
    if (order.has(name) || !packages.has(name)) return;
    for (const one of packages.get(name).dependencies) add(one);
    order.add(name);
  };
  for (const name of packages.keys()) add(name);
  return order;
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
