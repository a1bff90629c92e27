// Keeps the names of the project in one place, scripts/project.json: the scope of the packages, the repository, the homepage and the
// author. Their version is the one of @flags/core, which `npx changeset version` raises.
//
//   node scripts/project.mjs            fails if a file says something else
//   node scripts/project.mjs --write    writes them into all files. After another name: npm run setup, npm run format, npm run api:write
//
// `placeholders` lists the values that nobody has decided yet. They are named, and refused with FLAGS_RELEASE=1, which the release
// workflow sets.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const isWriting = process.argv.includes('--write');
const read = (path) => readFileSync(join(ROOT, path), 'utf8');
const { placeholders, ...project } = JSON.parse(read('scripts/project.json'));
const folders = readdirSync(join(ROOT, 'packages'));
const faults = [];

if (isWriting) rename();
const { version } = JSON.parse(read('packages/core/package.json'));
for (const folder of folders) checkPackage(`packages/${folder}`);
checkVersions();
checkPlaceholders();
for (const fault of faults) console.error(fault);
process.exitCode = faults.length > 0 ? 1 : 0;

/** Writes another scope and another repository wherever the present ones are. */
function rename() {
  const core = JSON.parse(read('packages/core/package.json'));
  const [oldScope] = core.name.split('/');
  const [before, after] = [oldScope, project.scope].map((one) => one.slice(1));
  const oldRepository = core.repository.url.replace(/^git\+|\.git$/g, '');
  const names = [
    [new RegExp(`(@|%40)${before}(?![\\w-])`, 'g'), `$1${after}`],
    // Tarballs, such as flags-core-*.tgz.
    [new RegExp(`\\b${before}-(${folders.join('|')})-(?=[\\d*])`, 'g'), `${after}-$1-`],
    [oldRepository, project.repository],
  ];
  for (const path of execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n')) {
    if (/\.(png|ico|woff2?)$/.test(path)) continue;
    write(
      path,
      names.reduce((text, [one, other]) => text.replaceAll(one, other), read(path)),
    );
  }
  // pnpm refuses a lock file that was made with another .pnpmfile.cjs.
  const checksum = createHash('sha256').update(read('.pnpmfile.cjs')).digest('base64');
  write('pnpm-lock.yaml', read('pnpm-lock.yaml').replace(/(?<=^pnpmfileChecksum: ).*$/m, `sha256-${checksum}`));
}

/** Compares, or writes, what npm shows of a package. */
function checkPackage(path) {
  const { scope, repository, homepage, author } = project;
  const manifest = JSON.parse(read(`${path}/package.json`));
  const expected = {
    homepage,
    bugs: `${repository}/issues`,
    author,
    repository: { type: 'git', url: `git+${repository}.git`, directory: path },
  };
  if (!manifest.name.startsWith(`${scope}/`)) {
    faults.push(
      `${path}/package.json: the name ${manifest.name} is not in the scope ${scope} of scripts/project.json.`,
    );
  }
  if (manifest.license !== 'MIT') faults.push(`${path}/package.json: the licence ${manifest.license} is not MIT.`);
  if (manifest.version !== version) {
    faults.push(`${path}/package.json: the version ${manifest.version} is not ${version}, the one of packages/core.`);
  }
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
  write(`${path}/package.json`, `${JSON.stringify(written, undefined, 2)}\n`);
}

/** Compares, or writes, the version in files that cannot read it: the constant, and the examples outside of the workspace. */
function checkVersions() {
  const places = {
    'packages/http/src/features/environments/session.ts': [/(?<=VERSION = ')[^']+/g, version],
    'examples/nextjs/package.json': [rangesOf(project.scope), `^${version}`],
    'examples/testing/package.json': [rangesOf(project.scope), `^${version}`],
  };
  for (const [path, [pattern, expected]] of Object.entries(places)) {
    const text = read(path);
    const found = text.match(pattern) ?? [];
    if (found.length > 0 && found.every((one) => one === expected)) continue;
    if (isWriting && found.length > 0) write(path, text.replaceAll(pattern, expected));
    else
      faults.push(`${path}: ${found.join(', ') || 'nothing'} is not ${expected}. Run node scripts/project.mjs --write`);
  }
}

function rangesOf(scope) {
  return new RegExp(`(?<="${scope}/[\\w-]+": ")[^"]+`, 'g');
}

function checkPlaceholders() {
  for (const name of placeholders) {
    if (!(name in project)) {
      faults.push(`scripts/project.json: placeholders names ${name}, which is not in the file.`);
      continue;
    }
    const message =
      `scripts/project.json: the ${name} "${project[name]}" is a placeholder. Write yours, take ${name} off placeholders, ` +
      'and run node scripts/project.mjs --write.';
    if (process.env.FLAGS_RELEASE === '1') faults.push(message);
    else console.log(message);
  }
}

function write(path, text) {
  if (text !== read(path)) writeFileSync(join(ROOT, path), text);
}
