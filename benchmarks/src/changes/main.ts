import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import type * as Core from '@flags/core';
import type { FlagCounts, Flags, FlagsOptions } from '@flags/core';
import type * as Sqlite from '@flags/core/sqlite';
import type * as Postgres from '@flags/postgres';
import { startPostgres } from '@flags/test-postgres';
import { inTemporaryFolder } from '../temporary-folder.js';

// Compares single changes and reports of this build with those of another build, in one process, in alternating rounds.

const { values: options } = parseArgs({
  options: {
    before: { type: 'string', default: '' },
    storage: { type: 'string', default: 'memory' },
    rounds: { type: 'string', default: '9' },
    calls: { type: 'string', default: '1500' },
    only: { type: 'string', default: '' },
  },
});
const calls = Number(options.calls);
const WARM_UP = 4;
const FLAGS = 100;
/** What keeps all that was acknowledged when the power fails; these are PostgreSQL's defaults. */
const DURABLE = { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' };
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
  'reportMetrics of 10 flags': (flags, call) => report(flags, call, { yes: call % 7, no: 3 }),
  'reportMetrics of 10 flags with variants': (flags, call) =>
    report(flags, call, { yes: call % 7, no: 3, variants: { blue: call % 7, disabled: 3 } }),
};

async function report(flags: Flags, call: number, counts: FlagCounts): Promise<void> {
  const at = new Date().toISOString();
  const toggles = Object.fromEntries(
    Array.from({ length: 10 }, (_, index) => [`flag-${(call + index) % FLAGS}`, counts]),
  );
  await flags.reportMetrics({ appName: 'shop', bucket: { start: at, stop: at, toggles } });
}

function refOf(call: number) {
  return { ...PROJECT, flag: `flag-${call % FLAGS}`, environment: 'production' };
}

interface Place {
  /** The folder of the SQLite files. */
  readonly folder: string;
  /** The connection string; '' for other storages. */
  readonly url: string;
  /** Names the file, and the schema. */
  readonly side: string;
}

async function open(repository: string, { folder, url, side }: Place): Promise<Flags> {
  const load = (entry: string) => import(pathToFileURL(resolve(repository, 'packages', entry)).href);
  const core: typeof Core = await load('core/dist/index.js');
  const sqlite: typeof Sqlite = await load('core/dist/sqlite.js');
  const postgres: typeof Postgres = await load('postgres/dist/index.js');
  const storages: Readonly<Record<string, () => FlagsOptions['storage']>> = {
    sqlite: () => sqlite.sqliteStorage(join(folder, `${side}.db`)),
    postgres: () => postgres.postgresStorage({ connectionString: url, schema: side }),
  };
  const openStorage = storages[options.storage] ?? core.memoryStorage;
  const flags = await core.createFlags({ storage: openStorage(), environments: [{ name: 'production' }] });
  await flags.addMember(PROJECT, { userId: 5000, roleId: 4 });
  for (let call = 0; call < FLAGS; call++) {
    await flags.createFlag(PROJECT, { name: `flag-${call}` });
    await flags.addStrategy(refOf(call), { name: 'flexibleRollout', parameters: { rollout: '50' } });
    await flags.setVariants({ ...PROJECT, flag: `flag-${call}` }, [
      { name: 'blue', weightType: 'variable', stickiness: 'default' },
    ]);
  }
  return flags;
}

/** Microseconds per call: of processor time, and by the clock. */
interface Cost {
  readonly processor: number;
  readonly clock: number;
}

async function measure(flags: Flags, run: (typeof OPERATIONS)[string], round: number): Promise<Cost> {
  const [start, startedAt] = [process.cpuUsage(), performance.now()];
  for (let call = 0; call < calls; call++) await run(flags, round * calls + call);
  const { user, system } = process.cpuUsage(start);
  return { processor: (user + system) / calls, clock: ((performance.now() - startedAt) * 1000) / calls };
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[numbers.length >> 1] ?? Number.NaN;
}

type Round = Readonly<Record<'before' | 'after', Cost>>;

/** Returns the medians of both sides and of their ratios. */
function cellsOf(rounds: readonly Round[], cost: keyof Cost): readonly string[] {
  const before = median(rounds.map((round) => round.before[cost]));
  const after = median(rounds.map((round) => round.after[cost]));
  const ratio = median(rounds.map((round) => round.after[cost] / round.before[cost]));
  return [before.toFixed(1), after.toFixed(1), ratio.toFixed(2)];
}

/** The sides take turns in being first. */
async function compare(sides: Readonly<Record<'before' | 'after', Flags>>, run: (typeof OPERATIONS)[string]) {
  const rounds: Round[] = [];
  for (let round = 0; round < WARM_UP + Number(options.rounds); round++) {
    if (round % 2 === 0) {
      const before = await measure(sides.before, run, round);
      rounds.push({ before, after: await measure(sides.after, run, round) });
    } else {
      const after = await measure(sides.after, run, round);
      rounds.push({ before: await measure(sides.before, run, round), after });
    }
  }
  return rounds.slice(WARM_UP);
}

const server = options.storage === 'postgres' ? await startPostgres({ settings: DURABLE }) : undefined;
try {
  await inTemporaryFolder(async (folder) => {
    const place = { folder, url: server?.url() ?? '' };
    const before = await open(options.before, { ...place, side: 'before' });
    const after = await open(join(import.meta.dirname, '../../..'), { ...place, side: 'after' });
    console.log('| operation | processor, before | after | ratio | clock, before | after | ratio |');
    console.log('| --- | ---: | ---: | ---: | ---: | ---: | ---: |');
    for (const [name, run] of Object.entries(OPERATIONS)) {
      if (!name.includes(options.only)) continue;
      const rounds = await compare({ before, after }, run);
      console.log(`| ${[name, ...cellsOf(rounds, 'processor'), ...cellsOf(rounds, 'clock')].join(' | ')} |`);
    }
    await before.close();
    await after.close();
  });
} finally {
  await server?.close();
}
