// Prints the lines of source in each folder beside the recorded ones, to show growth. They are recorded when a larger piece of
// work begins, and with each release. Nothing fails by these numbers.
//
//   node scripts/lines.mjs              prints the table
//   node scripts/lines.mjs --record     records the lines of today in .ci/lines.json
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(fileURLToPath(import.meta.url), '../..');
const RECORD = join(ROOT, '.ci/lines.json');
const BY_FOLDER = ['core/src', 'http/src', 'ui/app'];
const BY_FEATURE = ['core/src/features', 'http/src/features'];

const lines = countLines();
if (process.argv.includes('--record')) {
  const recorded = execFileSync('git', ['log', '-1', '--format=%cs'], { cwd: ROOT, encoding: 'utf8' }).trim();
  writeFileSync(RECORD, `${JSON.stringify({ recorded, lines }, undefined, 2)}\n`);
} else {
  print(JSON.parse(readFileSync(RECORD, 'utf8')));
}

/** Counts the lines of tracked TypeScript and CSS: per package, per folder of core, http and the page, and per feature. */
function countLines() {
  const files = execFileSync('git', ['ls-files', 'packages', 'benchmarks'], { cwd: ROOT, encoding: 'utf8' }).split(
    '\n',
  );
  const counts = {};
  for (const file of files) {
    if (!/\.(tsx?|mts|cts|css)$/.test(file)) continue;
    const { length } = readFileSync(join(ROOT, file), 'utf8').split('\n').slice(1);
    for (const folder of foldersOf(file)) counts[folder] = (counts[folder] ?? 0) + length;
  }
  return Object.fromEntries(Object.entries(counts).sort(([one], [other]) => (one < other ? -1 : 1)));
}

function foldersOf(file) {
  const [top, name, part, folder, feature] = file.split('/');
  if (top !== 'packages') return [top];
  const own = `${name}/${part}`;
  if (!BY_FOLDER.includes(own)) return [own];
  const inner = `${own}/${folder.includes('.') ? '*' : folder}`;
  return BY_FEATURE.includes(inner) ? [own, inner, `${inner}/${feature}`] : [own, inner];
}

function print({ recorded, lines: before }) {
  const folders = [...new Set([...Object.keys(before), ...Object.keys(lines)])].sort();
  const row = (folder, then, now, difference) =>
    console.log(`${folder.padEnd(26)} ${then.padStart(10)} ${now.padStart(8)} ${difference.padStart(8)}`);
  row('lines of source', recorded, 'now', '');
  for (const folder of folders) {
    const then = before[folder] ?? 0;
    const now = lines[folder] ?? 0;
    const difference = now - then;
    row(folder, `${then}`, `${now}`, difference > 0 ? `+${difference}` : `${difference || ''}`);
  }
}
