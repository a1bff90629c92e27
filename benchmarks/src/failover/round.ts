import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openFlags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { postgresStorage } from '@flags/postgres';
import { type CheckOptions, check, lostChanges } from './checker/check.js';
import { type Entry, type History, parseEntries, type Violation } from './checker/history.js';
import { readFinalState } from './final-state.js';
import { type Node, startNode } from './nodes.js';
import { createRandom } from './random.js';
import { FLAGS, type NodeOptions, type NodeStorage } from './workload.js';

/** Nanoseconds. Processes share few cores here, and a full one delays timers. */
const LONGEST_GAP = 5e9;
/** Milliseconds. */
const PATIENCE = 120_000;

export interface RoundOptions {
  readonly storage: NodeStorage;
  /** The folder of the logs. */
  readonly directory: string;
  readonly nodes: number;
  readonly seed: number;
  readonly mayLose?: boolean;
  readonly hasJumpingClock?: boolean;
  /** The faults, while the nodes work. They may kill and start nodes. */
  readonly disturb: (round: RunningRound) => Promise<void>;
}

export interface RunningRound {
  readonly nodes: readonly Node[];
  /** Starts a node in place of one that was killed, under a new name. */
  restart(index: number): Promise<void>;
  /** Resolves after this many further acknowledged changes, or two minutes. */
  acknowledged(count: number): Promise<void>;
}

export interface RoundResult {
  readonly changes: number;
  readonly unknown: number;
  readonly lost: number;
  readonly resets: number;
  /** Milliseconds of the longest time without an acknowledged change. */
  readonly interruption: number;
  readonly violations: readonly Violation[];
}

/** Lets nodes work during a fault, and checks the history. */
export async function runRound(options: RoundOptions): Promise<RoundResult> {
  const { storage, directory, seed, disturb } = options;
  const after = await prepare(storage);
  const random = createRandom(seed);
  const logs: string[] = [];
  const start = () => {
    const name = `n${logs.length}`;
    const log = join(directory, `${seed}-${name}.jsonl`);
    logs.push(log);
    const hasJumpingClock = options.hasJumpingClock ?? false;
    const node: NodeOptions = { name, storage, log, seed: random() * 2 ** 32, after, hasJumpingClock };
    return startNode(node);
  };
  const nodes = await Promise.all(Array.from({ length: options.nodes }, start));
  const entries = () => logs.flatMap((log) => parseEntries(readFileSync(log, 'utf8')));
  const acknowledgedCount = () => entries().filter(isAcknowledged).length;
  try {
    await disturb({
      nodes,
      async restart(index) {
        nodes[index] = await start();
      },
      async acknowledged(count) {
        const target = acknowledgedCount() + count;
        const deadline = performance.now() + PATIENCE;
        while (acknowledgedCount() < target && performance.now() < deadline) await pause(200);
      },
    });
    await Promise.all(nodes.map((node) => node.stop()));
    await Promise.all(nodes.map((node) => node.end()));
  } finally {
    for (const node of nodes) await node.kill();
  }
  return judge(options, entries());
}

function isAcknowledged(entry: Entry): boolean {
  return entry.kind === 'change' && entry.outcome === 'ok';
}

/** Creates the flags. Returns the position of the last event. */
async function prepare(storage: NodeStorage): Promise<string> {
  const { kind, ...given } = storage as NodeStorage & { readonly path: string; readonly connectionString: string };
  const opened = kind === 'sqlite' ? sqliteStorage(given.path) : postgresStorage({ ...given, listen: false });
  const flags = await openFlags({ storage: opened, pollInterval: 0 });
  const ref = { project: 'default' };
  for (const name of FLAGS) {
    const environment = { ...ref, flag: name, environment: 'production' };
    await flags.createFlag(ref, { name });
    await flags.addStrategy(environment, { name: 'default' });
    await flags.enable(environment);
  }
  const { position } = await flags.events.listNext();
  await flags.close();
  return position ?? '';
}

async function judge({ storage, mayLose = false }: RoundOptions, entries: readonly Entry[]): Promise<RoundResult> {
  const state = await readFinalState(storage);
  const located = entries.map((entry): Entry => {
    if (entry.kind !== 'reset' || entry.after === undefined) return entry;
    const { after, ...reset } = entry;
    const key = state.keyAt(after);
    return key === undefined ? reset : { ...reset, after: key };
  });
  const history: History = { entries: located, events: state.events, flags: state.flags };
  const options: CheckOptions = { longestGap: LONGEST_GAP, mayLose };
  const ends = entries.flatMap((entry) => (entry.kind === 'change' && entry.outcome === 'ok' ? [entry.end] : []));
  const sorted = ends.sort((one, other) => one - other);
  const gaps = sorted.slice(1).map((end, index) => end - (sorted[index] ?? end));
  return {
    changes: ends.length,
    unknown: entries.filter((entry) => entry.kind === 'change' && entry.outcome === 'unknown').length,
    lost: lostChanges(history).length,
    resets: entries.filter(({ kind }) => kind === 'reset').length,
    interruption: gaps.reduce((longest, gap) => Math.max(longest, gap), 0) / 1e6,
    violations: check(history, options),
  };
}
