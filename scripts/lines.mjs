// Prints the lines of source in each folder beside those of the last release, to show growth.
//
//   node scripts/lines.mjs              prints the table
//   node scripts/lines.mjs --release    records the current lines as those of the release
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(fileURLToPath(import.meta.url), '../..');
const RELEASED = join(ROOT, '.ci/lines.json');

const lines = countLines();
if (process.argv.includes('--release')) {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'packages/core/package.json'), 'utf8'));
  writeFileSync(RELEASED, `${JSON.stringify({ version, lines }, undefined, 2)}\n`);
} else {
  print(JSON.parse(readFileSync(RELEASED, 'utf8')));
}

/** Counts the lines of tracked TypeScript and CSS: per package, and per folder of core. */
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
  const [top, name, part, folder] = file.split('/');
  if (top !== 'packages') return [top];
  const own = `${name}/${part}`;
  return name === 'core' && part === 'src' ? [own, folder.includes('.') ? `${own}/*.ts` : `${own}/${folder}`] : [own];
}

function print({ version, lines: released }) {
  const folders = [...new Set([...Object.keys(released), ...Object.keys(lines)])].sort();
  const row = (folder, before, now, difference) =>
    console.log(`${folder.padEnd(26)} ${before.padStart(8)} ${now.padStart(8)} ${difference.padStart(8)}`);
  row('lines of source', version, 'now', '');
  for (const folder of folders) {
    const before = released[folder] ?? 0;
    const now = lines[folder] ?? 0;
    const difference = now - before;
    row(folder, `${before}`, `${now}`, difference > 0 ? `+${difference}` : `${difference || ''}`);
  }
}
