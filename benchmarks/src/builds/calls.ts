import { join } from 'node:path';
import type { Flags } from '@flags/core';
import type { FlagCounts } from '@flags/core/types';
import { table } from '../markdown.js';
import { median } from '../median.js';
import { placeAt, populate, projectAt, rolloutOf } from '../population.js';
import { openerOf, reportOf, THIS_BUILD } from './build.js';
import { isWithin } from './margin.js';

export interface CallComparison {
  /** The root of the other repository. */
  readonly before: string;
  /** Of the SQLite files; undefined for other storages. */
  readonly folder: string | undefined;
  /** The connection string of a PostgreSQL; undefined for other storages. */
  readonly url: string | undefined;
  readonly rounds: number;
  readonly calls: number;
  /** Only operations whose name contains this. */
  readonly only: string;
}

interface Operation {
  readonly name: string;
  /** Whether the release may not cost more than the margin allows. */
  readonly isNamed?: true;
  /** Its calls as a share of all. */
  readonly share?: number;
  run(side: Side, call: number): Promise<unknown>;
}

/** An open build. */
interface Side {
  readonly flags: Flags;
  open(): Promise<Flags>;
}

const FLAGS = 1_000;
const EVALUATIONS = 1_000;
const WARM_UP = 4;
const PROJECT = { project: projectAt(0) };

const OPERATIONS: readonly Operation[] = [
  {
    name: `opening, ${FLAGS} flags`,
    isNamed: true,
    share: 0.002,
    run: async ({ open }) => (await open()).close(),
  },
  {
    name: `${EVALUATIONS} evaluations`,
    isNamed: true,
    share: 0.1,
    async run({ flags }) {
      for (let at = 0; at < EVALUATIONS; at++) {
        flags.isEnabled(refOf(at).flag, { userId: `user-${at * 7919}`, properties: { country: 'no' } });
      }
    },
  },
  { name: 'getFlag', isNamed: true, run: ({ flags }, call) => flags.getFlag(refOf(call)) },
  {
    name: 'updateFlag',
    run: ({ flags }, call) => flags.updateFlag(refOf(call), { description: `text ${call}` }),
  },
  {
    name: 'disable, enable',
    async run({ flags }, call) {
      await flags.disable(refOf(call));
      await flags.enable(refOf(call));
    },
  },
  {
    name: 'addStrategy, removeStrategy',
    async run({ flags }, call) {
      const { id } = await flags.addStrategy(refOf(call), rolloutOf('added'));
      await flags.removeStrategy({ ...refOf(call), strategy: id });
    },
  },
  {
    name: 'addMember, removeMember',
    async run({ flags }, call) {
      const member = { userId: (call % FLAGS) + 1, roleId: 4 };
      await flags.addMember(PROJECT, member);
      await flags.removeMember(PROJECT, member);
    },
  },
  {
    name: 'reportMetrics of 10 flags',
    run: ({ flags }, call) => report(flags, call, { yes: call % 7, no: 3 }),
  },
  {
    name: 'reportMetrics of 10 flags with variants',
    run: ({ flags }, call) => report(flags, call, { yes: call % 7, no: 3, variants: { blue: call % 7, disabled: 3 } }),
  },
];

/** Compares calls of this build with those of another, in one process, in alternating rounds. */
export async function callTable({ before, folder, url, rounds, calls, only }: CallComparison): Promise<string> {
  const openSide = async (repository: string, name: string): Promise<Side> => {
    const file = folder && join(folder, `${name}.db`);
    const open = await openerOf(repository, {
      file,
      postgres: url ? { connectionString: url, schema: name } : undefined,
    });
    const flags = await open();
    await populate(flags, { flags: FLAGS, projects: 1 });
    await flags.addMember(PROJECT, { userId: 5000, roleId: 4 });
    return { flags, open };
  };
  const sides = { before: await openSide(before, 'before'), now: await openSide(THIS_BUILD, 'now') };
  const rows: string[][] = [];
  for (const operation of OPERATIONS.filter(({ name }) => name.includes(only))) {
    const measured = await compare(sides, { operation, rounds, calls });
    const ratio = median(measured.map((round) => round.now.processor / round.before.processor));
    const margin = operation.isNamed ? isWithin(ratio) : '';
    rows.push([operation.name, ...cellsOf(measured, 'processor'), margin, ...cellsOf(measured, 'clock')]);
    console.error(...(rows.at(-1) ?? []));
  }
  for (const { flags } of Object.values(sides)) await flags.close();
  return table(['µs', 'processor time', 'before', 'ratio', 'within', 'time', 'before', 'ratio'], rows);
}

async function report(flags: Flags, call: number, counted: FlagCounts): Promise<void> {
  const counts = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [refOf(call + index).flag, counted]));
  await flags.reportMetrics(reportOf(counts));
}

function refOf(call: number) {
  return placeAt(call % FLAGS);
}

/** Microseconds per call: of processor time, and by the clock. */
interface Cost {
  readonly processor: number;
  readonly clock: number;
}

type Round = Readonly<Record<'before' | 'now', Cost>>;

/** The builds take turns at being first. */
async function compare(
  sides: Readonly<Record<'before' | 'now', Side>>,
  { operation, rounds, calls }: { readonly operation: Operation; readonly rounds: number; readonly calls: number },
): Promise<readonly Round[]> {
  const measured: Round[] = [];
  const count = Math.ceil(calls * (operation.share ?? 1));
  for (let round = 0; round < WARM_UP + rounds; round++) {
    const measure = (side: Side) => costOf((call) => operation.run(side, round * count + call), count);
    if (round % 2 === 0) {
      const before = await measure(sides.before);
      measured.push({ before, now: await measure(sides.now) });
    } else {
      const now = await measure(sides.now);
      measured.push({ before: await measure(sides.before), now });
    }
  }
  return measured.slice(WARM_UP);
}

async function costOf(run: (call: number) => Promise<unknown>, calls: number): Promise<Cost> {
  const [start, startedAt] = [process.cpuUsage(), performance.now()];
  for (let call = 0; call < calls; call++) await run(call);
  const { user, system } = process.cpuUsage(start);
  return { processor: (user + system) / calls, clock: ((performance.now() - startedAt) * 1000) / calls };
}

/** Medians of this build, of the other, and of their ratios. */
function cellsOf(rounds: readonly Round[], cost: keyof Cost): readonly string[] {
  const now = median(rounds.map((round) => round.now[cost]));
  const before = median(rounds.map((round) => round.before[cost]));
  const ratio = median(rounds.map((round) => round.now[cost] / round.before[cost]));
  return [now.toFixed(1), before.toFixed(1), ratio.toFixed(2)];
}
