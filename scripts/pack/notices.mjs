// The licences of the packages of others that a bundle contains.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';

/** Writes `THIRD-PARTY.txt` beside a bundle, unless it has only files of its own. */
export function writeNotices(output, files) {
  const packages = packagesOf(files);
  if (packages.length > 0) writeFileSync(join(output, 'THIRD-PARTY.txt'), noticesOf('These files contain', packages));
}

/** Returns the packages that files inside `node_modules` belong to, by name. */
export function packagesOf(files) {
  const folders = new Set(files.filter((file) => file.includes(`node_modules${sep}`)).map(folderOf));
  const packages = [...folders].map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return { name, version, license, notice: noticeOf(folder) };
  });
  return packages.sort((one, other) => (one.name < other.name ? -1 : 1));
}

function folderOf(file) {
  const parts = file.split(`node_modules${sep}`);
  const [scope, name] = parts.at(-1).split(sep);
  const folder = scope.startsWith('@') ? join(scope, name) : scope;
  return join(parts.slice(0, -1).join(`node_modules${sep}`), 'node_modules', folder);
}

function noticeOf(folder) {
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
  if (file === undefined) throw new Error(`${folder} has no licence.`);
  return readFileSync(join(folder, file), 'utf8').trim();
}

export function noticesOf(subject, packages) {
  const texts = packages.map(({ name, version, notice }) => `${name} ${version}\n\n${notice}\n`);
  return `${subject} these packages.\n\n${texts.join(`\n${'-'.repeat(80)}\n\n`)}`;
}
