// Weighs packed packages as a stranger installs them, beside other clients: size on disk, files, and what an import costs. Then
// what a program costs that opens flags in memory, creates one and closes, beside an empty one.
//
//   node scripts/weigh.mjs flags-core-0.1.0.tgz             prints the table
//   node scripts/weigh.mjs flags-core-0.1.0.tgz --check     also fails beyond the limits
//
// The clients take turns, one process each, so that a busy machine slows all of them down alike. Compare ratios.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const OWN = '@flags/core';
const PEERS = {
  'unleash-client': '6.12.1',
  '@launchdarkly/node-server-sdk': '9.13.7',
  '@growthbook/growthbook': '1.8.0',
};
const RUNS = 9;
/**
 * The own tarball, unpacked; what it installs with its dependencies; and the files and the code that an import loads, which make
 * most of its time. Times differ between machines, and are printed only.
 */
const LIMITS = { kilobytes: 3072, files: 350, kilobytesInstalled: 6144, filesLoaded: 3, kilobytesLoaded: 760 };
/** Of an empty program and of the first change, one after the other: their difference is small beside that of two moments. */
const STARTS = 21;

const [tarball, option] = process.argv.slice(2);
if (tarball === undefined) throw new Error('Give the path of the tarball of @flags/core.');
const own = resolve(tarball);

const work = mkdtempSync(join(tmpdir(), 'weigh-'));
try {
  const rows = [weigh(OWN, own), ...Object.entries(PEERS).map(([name, version]) => weigh(name, `${name}@${version}`))];
  const names = rows.map(({ name }) => name);
  const samples = Array.from({ length: RUNS }, () => names.map((name) => importOf(name)));
  for (const [index, row] of rows.entries()) {
    row.time = median(samples.map((sample) => sample[index].time));
    row.heap = median(samples.map((sample) => sample[index].heap));
  }
  Object.assign(rows[0], loadedBy(join(projectOf(OWN), 'node_modules', OWN, 'lib/index.js')));
  print(rows);
  console.log(`\nAn import loads ${rows[0].filesLoaded} files, ${rows[0].kilobytesLoaded.toFixed(0)} kB.`);
  printStarts();
  if (option === '--check') check(rows);
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** Installs one client into an empty project. */
function weigh(name, source) {
  const project = projectOf(name);
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "private": true }');
  const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', ['install', ...quiet, source], { cwd: project, stdio: ['ignore', 'ignore', 'inherit'] });
  const modules = join(project, 'node_modules');
  return {
    name,
    kilobytes: kilobytesOf(join(modules, name)),
    files: filesOf(join(modules, name)),
    kilobytesInstalled: kilobytesOf(modules),
  };
}

function projectOf(name) {
  return join(work, name.replaceAll(/\W/g, '-'));
}

function kilobytesOf(folder) {
  return Number.parseInt(execFileSync('du', ['-sk', folder], { encoding: 'utf8' }), 10);
}

function filesOf(folder) {
  return readdirSync(folder, { recursive: true }).filter((path) => statSync(join(folder, path)).isFile()).length;
}

/** Imports a client in a process of its own: processor time in milliseconds, and MB that the heap gains. */
function importOf(name) {
  const program = `
    gc();
    const heap = process.memoryUsage().heapUsed;
    const start = process.cpuUsage();
    globalThis.imported = await import('${name}');
    const { user, system } = process.cpuUsage(start);
    gc();
    console.log(JSON.stringify({ time: (user + system) / 1000, heap: (process.memoryUsage().heapUsed - heap) / 1e6 }));`;
  const options = { cwd: projectOf(name), encoding: 'utf8' };
  return JSON.parse(execFileSync(process.execPath, ['--expose-gc', '--input-type=module', '--eval', program], options));
}

/** Returns how many files an ES module loads with its static imports, and their size. */
function loadedBy(entry) {
  const loaded = new Map();
  const load = (file) => {
    if (loaded.has(file)) return;
    const text = readFileSync(file, 'utf8');
    loaded.set(file, text.length);
    for (const [, path] of text.matchAll(/^(?:import|export|\}) .*?"(\.{1,2}\/[^"]+)";$/gm))
      load(join(dirname(file), path));
  };
  load(entry);
  const sizes = [...loaded.values()];
  return { filesLoaded: sizes.length, kilobytesLoaded: sizes.reduce((sum, size) => sum + size, 0) / 1000 };
}

/** Prints the processor time of a first change beside that of an empty program, from the start of each process. */
function printStarts() {
  const firstChange = `
    import { memoryStorage, openFlags } from '${OWN}';
    const flags = await openFlags({ storage: memoryStorage() });
    await flags.createFlag({ project: 'default' }, { name: 'checkout' });
    await flags.close();`;
  const programs = { empty: '', change: firstChange };
  for (const [name, text] of Object.entries(programs)) {
    const end = `\nimport { writeSync } from 'node:fs';\nwriteSync(1, JSON.stringify(process.cpuUsage()));\n`;
    writeFileSync(join(projectOf(OWN), `${name}.mjs`), text + end);
  }
  const startOf = (name) => {
    const { user, system } = JSON.parse(execFileSync(process.execPath, [`${name}.mjs`], { cwd: projectOf(OWN) }));
    return (user + system) / 1000;
  };
  const samples = Array.from({ length: STARTS }, () => [startOf('empty'), startOf('change')]);
  const [empty, change] = [0, 1].map((index) => median(samples.map((sample) => sample[index])));
  const ratio = (change / empty).toFixed(2);
  console.log(
    `Start, first change and close: ${change.toFixed(0)} ms, ${ratio} × an empty program (${empty.toFixed(0)} ms).`,
  );
}

function median(values) {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];
}

function ratioOf(row, rows) {
  return row.time / rows.find(({ name }) => name === 'unleash-client').time;
}

function print(rows) {
  console.log('| | on disk | files | with dependencies | import, processor time | × unleash-client | heap |');
  console.log('|---|---|---|---|---|---|---|');
  for (const row of rows) {
    const cells = [
      row.name,
      `${row.kilobytes} kB`,
      row.files,
      `${row.kilobytesInstalled} kB`,
      `${row.time.toFixed(0)} ms`,
      ratioOf(row, rows).toFixed(2),
      `${row.heap.toFixed(1)} MB`,
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
}

function check(rows) {
  const [core] = rows;
  const beyond = Object.entries(LIMITS).filter(([name, limit]) => core[name] > limit);
  for (const [name, limit] of beyond) console.error(`${OWN}: ${name} is ${core[name]}, at most ${limit}.`);
  if (beyond.length > 0) process.exitCode = 1;
}
