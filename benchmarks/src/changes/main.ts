import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import type * as Core from '@flags/core';
import type { Flags } from '@flags/core';
import type * as Sqlite from '@flags/core/sqlite';
import { inTemporaryFolder } from '../temporary-folder.js';

// Compares single changes and reports of this build with those of another build, in one process, in alternating rounds.

const { values: options } = parseArgs({
  options: {
    before: { type: 'string', default: '' },
    storage: { type: 'string', default: 'memory' },
    rounds: { type: 'string', default: '9' },
    calls: { type: 'string', default: '1500' },
  },
});
const calls = Number(options.calls);
const WARM_UP = 4;
const FLAGS = 100;
const PROJECT = { project: 'default' };

const OPERATIONS: Readonly<Record<string, (flags: Flags, call: number) => Promise<unknown>>> = {
  updateFlag: (flags, call) => flags.updateFlag(refOf(call), { description: `text ${call}` }),
  async 'enable, disable'(flags, call) {
    await flags.enable(refOf(call));
    await flags.disable(refOf(call));
  },
  async 'addStrategy, removeStrategy'(flags, call) {
    const { id } = await flags.addStrategy(refOf(call), { name: 'default' });
    await flags.removeStrategy({ ...refOf(call), strategy: id });
  },
  async 'addMember, removeMember'(flags, call) {
    const member = { userId: (call % FLAGS) + 1, roleId: 4 };
    await flags.addMember(PROJECT, member);
    await flags.removeMember(PROJECT, member);
  },
  async 'reportMetrics of 10 flags'(flags, call) {
    const at = new Date().toISOString();
    const names = Array.from({ length: 10 }, (_, index) => `flag-${(call + index) % FLAGS}`);
    const toggles = Object.fromEntries(names.map((name) => [name, { yes: call % 7, no: 3 }]));
    await flags.reportMetrics({ appName: 'shop', bucket: { start: at, stop: at, toggles } });
  },
};

function refOf(call: number) {
  return { ...PROJECT, flag: `flag-${call % FLAGS}`, environment: 'production' };
}

async function open(repository: string, file: string): Promise<Flags> {
  const entry = pathToFileURL(resolve(repository, 'packages/core/dist/index.js')).href;
  const core: typeof Core = await import(entry);
  const sqlite: typeof Sqlite = await import(pathToFileURL(resolve(repository, 'packages/core/dist/sqlite.js')).href);
  const storage = options.storage === 'memory' ? core.memoryStorage() : sqlite.sqliteStorage(file);
  const flags = await core.createFlags({ storage, environments: [{ name: 'production' }] });
  await flags.addMember(PROJECT, { userId: 5000, roleId: 4 });
  for (let call = 0; call < FLAGS; call++) {
    await flags.createFlag(PROJECT, { name: `flag-${call}` });
    await flags.addStrategy(refOf(call), { name: 'flexibleRollout', parameters: { rollout: '50' } });
  }
  return flags;
}

/** Returns microseconds of processor time per call. */
async function measure(flags: Flags, run: (typeof OPERATIONS)[string], round: number): Promise<number> {
  const start = process.cpuUsage();
  for (let call = 0; call < calls; call++) await run(flags, round * calls + call);
  const { user, system } = process.cpuUsage(start);
  return (user + system) / calls;
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[numbers.length >> 1] ?? Number.NaN;
}

await inTemporaryFolder(async (folder) => {
  const before = await open(options.before, join(folder, 'before.db'));
  const after = await open(join(import.meta.dirname, '../../..'), join(folder, 'after.db'));
  console.log('| operation | before, µs | after, µs | ratio |\n| --- | ---: | ---: | ---: |');
  for (const [name, run] of Object.entries(OPERATIONS)) {
    const rounds: { before: number; after: number }[] = [];
    for (let round = 0; round < WARM_UP + Number(options.rounds); round++) {
      rounds.push({ before: await measure(before, run, round), after: await measure(after, run, round) });
    }
    const measured = rounds.slice(WARM_UP);
    const [one, other] = [median(measured.map((round) => round.before)), median(measured.map((round) => round.after))];
    const ratio = median(measured.map((round) => round.after / round.before));
    console.log(`| ${name} | ${one.toFixed(1)} | ${other.toFixed(1)} | ${ratio.toFixed(2)} |`);
  }
  await before.close();
  await after.close();
});
