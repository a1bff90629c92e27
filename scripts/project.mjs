// Keeps the names of the project in one place, scripts/project.json: the scope of the packages, the repository and the author.
//
//   node scripts/project.mjs            fails if a package says something else
//   node scripts/project.mjs --write    writes them into all files; then install again: the lock file has the scope, too
//
// A value that begins with PLACEHOLDER is named, and refused with FLAGS_RELEASE=1, which the release workflow sets.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const isWriting = process.argv.includes('--write');
const read = (path) => JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
const { scope, repository, author } = read('scripts/project.json');
const packages = readdirSync(join(ROOT, 'packages')).map((folder) => join('packages', folder));
const faults = [];

if (isWriting) rename();
for (const path of packages) checkPackage(path);
for (const [name, value] of Object.entries({ scope, repository, author })) {
  if (!value.startsWith('PLACEHOLDER')) continue;
  const message = `scripts/project.json has no ${name} yet: ${value}.`;
  if (process.env.FLAGS_RELEASE === '1') faults.push(message);
  else console.log(message);
}
for (const fault of faults) console.error(fault);
process.exitCode = faults.length > 0 ? 1 : 0;

/** Writes another scope and another repository wherever the present ones are. */
function rename() {
  const core = read('packages/core/package.json');
  const [oldScope] = core.name.split('/');
  const oldRepository = core.repository.url.replace(/^git\+|\.git$/g, '');
  const names = [
    [`${oldScope}/`, `${scope}/`],
    [oldScope.replace('@', '%40'), scope.replace('@', '%40')],
    [oldRepository, repository],
  ].filter(([before, after]) => before !== after);
  if (names.length === 0) return;
  for (const path of execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n')) {
    if (/\.(png|ico|woff2?)$/.test(path)) continue;
    const before = readFileSync(join(ROOT, path), 'utf8');
    const after = names.reduce((text, [one, other]) => text.replaceAll(one, other), before);
    if (after !== before) writeFileSync(join(ROOT, path), after);
  }
}

/** Compares, or writes, what npm shows of a package. */
function checkPackage(path) {
  const manifest = read(`${path}/package.json`);
  const expected = {
    homepage: `${repository}#readme`,
    bugs: `${repository}/issues`,
    author,
    repository: { type: 'git', url: `git+${repository}.git`, directory: path },
  };
  if (!manifest.name.startsWith(`${scope}/`)) faults.push(`${path}: its name ${manifest.name} is not in ${scope}.`);
  const wrong = Object.keys(expected).filter(
    (name) => JSON.stringify(manifest[name]) !== JSON.stringify(expected[name]),
  );
  if (wrong.length === 0) return;
  if (!isWriting) {
    faults.push(
      `${path}/package.json: ${wrong.join(', ')} differ from scripts/project.json. Run node scripts/project.mjs --write`,
    );
    return;
  }
  // New members follow the licence.
  const members = Object.entries(manifest).filter(([name]) => !(name in expected));
  const at = members.findIndex(([name]) => name === 'license') + 1;
  const written = Object.fromEntries([...members.slice(0, at), ...Object.entries(expected), ...members.slice(at)]);
  writeFileSync(join(ROOT, path, 'package.json'), `${JSON.stringify(written, undefined, 2)}\n`);
}
