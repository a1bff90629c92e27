// Prints the notes of a release: what CHANGELOG.md and the changelogs of the packages say about its version.
//
//   node scripts/release/notes.mjs            the version of the packages
//   node scripts/release/notes.mjs v0.1.0     fails unless the packages have this version
//
// With FLAGS_RELEASE=1, a version that is "unreleased" fails, too: its heading needs the date.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');
const read = (path) => readFileSync(join(ROOT, path), 'utf8');
const { version } = JSON.parse(read('packages/core/package.json'));
const [tag = `v${version}`] = process.argv.slice(2);
const folders = readdirSync(join(ROOT, 'packages'));
const { repository } = JSON.parse(read('scripts/project.json'));

try {
  if (tag !== `v${version}`)
    throw new Error(`The tag ${tag} is not v${version}, the version of packages/core/package.json.`);
  const { heading, text } = sectionOf('CHANGELOG.md');
  const sections = folders.map((folder) => {
    const { name } = JSON.parse(read(`packages/${folder}/package.json`));
    return `### ${name}\n\n${sectionOf(`packages/${folder}/CHANGELOG.md`).text}\n`;
  });
  if (process.env.FLAGS_RELEASE === '1' && heading.includes('unreleased')) {
    throw new Error(`CHANGELOG.md: ${version} is "unreleased". Write the date into its heading.`);
  }
  console.log([`${text}\n`, ...sections].join('\n'));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}

/** Returns the heading and the text of the version in a changelog. */
function sectionOf(path) {
  const section = read(path)
    .split(/^## /m)
    .find((one) => one.startsWith(version) && !/[\w.-]/.test(one.charAt(version.length)));
  const [heading = '', ...lines] = section?.split('\n') ?? [];
  const text = lines.join('\n').trim();
  if (text === '') throw new Error(`${path} says nothing about ${version}.`);
  // A release has no files beside it: links lead to the files of the tag.
  const base = `${repository}/blob/${tag}/${path.replace(/[^/]*$/, '')}`;
  return { heading, text: text.replaceAll(/\]\((?![a-z]+:|#)/g, `](${base}`) };
}
