import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { machine } from '../machine.js';
import { table } from '../markdown.js';
import { inTemporaryFolder } from '../temporary-folder.js';
import type { Violation } from './checker/history.js';
import { type Cluster, missingPrograms, startCluster } from './cluster.js';
import { FAULTS, type Fault, LOSSES } from './faults.js';
import { runSqliteRound } from './on-sqlite.js';
import { type RoundResult, runRound } from './round.js';

const { values: given } = parseArgs({
  options: {
    minutes: { type: 'string' },
    rounds: { type: 'string', default: '1' },
    seed: { type: 'string', default: `${Date.now() % 1_000_000}` },
    /** Only this run: `synchronous`, `pgbouncer`, `asynchronous` or `sqlite`. */
    run: { type: 'string' },
    /** A part of the name of a fault. */
    fault: { type: 'string', default: '' },
  },
});

const deadline = given.minutes === undefined ? Number.POSITIVE_INFINITY : Date.now() + Number(given.minutes) * 60_000;
const rounds = given.minutes === undefined ? Number(given.rounds) : Number.POSITIVE_INFINITY;

interface Row {
  readonly name: string;
  readonly results: RoundResult[];
}

interface Run {
  readonly key: string;
  readonly name: string;
  readonly isSynchronous: boolean;
  /** Whether nodes connect through PgBouncer, and listen at the database itself. */
  readonly isPooled: boolean;
}

const RUNS: readonly Run[] = [
  { key: 'synchronous', name: 'synchronous', isSynchronous: true, isPooled: false },
  { key: 'pgbouncer', name: 'synchronous, PgBouncer', isSynchronous: true, isPooled: true },
  { key: 'asynchronous', name: 'asynchronous', isSynchronous: false, isPooled: false },
];

const isChosen = (key: string) => given.run === undefined || given.run === key;

const rows: Row[] = [];
let seed = Number(given.seed);

function note(name: string, result: RoundResult): void {
  const row = rows.find((one) => one.name === name) ?? { name, results: [] };
  if (row.results.length === 0) rows.push(row);
  row.results.push(result);
  const { violations, interruption, ...counts } = result;
  const verdict = violations.length === 0 ? 'holds' : `${violations.length} VIOLATIONS`;
  console.error(`${name}, seed ${seed}: ${verdict}, ${Math.round(interruption)} ms, ${JSON.stringify(counts)}`);
  if (violations[0]) console.error(describeViolation(violations[0]));
}

function describeViolation({ rule, message, evidence }: Violation): string {
  return [`  ${rule}: ${message}`, ...evidence.map((entry) => `    ${JSON.stringify(entry)}`)].join('\n');
}

async function rehearse(run: Run, directory: string, until: number): Promise<void> {
  let cluster = await startHealthyCluster(run);
  try {
    for (let round = 0; round < rounds && Date.now() < until; round++) {
      for (const [fault, inject] of Object.entries(run.isSynchronous ? FAULTS : LOSSES)) {
        if (!fault.includes(given.fault) || Date.now() > until) continue;
        seed += 1;
        try {
          note(`${run.name}: ${fault}`, await runPostgresRound(cluster, { run, inject, directory }));
        } catch (error) {
          // Of the cluster, not of the library: it counts as no round.
          console.error(`${run.name}: ${fault}, seed ${seed}: given up. ${error}`);
          await cluster.close();
          cluster = await startHealthyCluster(run);
        }
      }
    }
  } finally {
    await cluster.close();
  }
}

/**
 * Starts a cluster, at most three times. On a busy machine the primary may lose its lease while the cluster starts; Patroni
 * 3.0.2 then names no synchronous standby any more.
 */
async function startHealthyCluster(run: Run): Promise<Cluster> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await startCluster(run);
    } catch (error) {
      if (attempt === 3) throw error;
      console.error(`${run.name}: the cluster is started again. ${error}`);
    }
  }
}

interface PostgresRound {
  readonly run: Run;
  readonly inject: Fault;
  readonly directory: string;
}

async function runPostgresRound(cluster: Cluster, { run, inject, directory }: PostgresRound): Promise<RoundResult> {
  const { isPooled, isSynchronous } = run;
  const connectionString = isPooled ? cluster.pooledUrl : cluster.url;
  return runRound({
    storage: {
      kind: 'postgres',
      connectionString,
      schema: `round_${seed}`,
      ...(isPooled && { listen: cluster.url }),
    },
    directory,
    nodes: 4,
    seed,
    mayLose: !isSynchronous,
    async disturb({ acknowledged }) {
      await acknowledged(20);
      const mend = await inject(cluster);
      try {
        // A fault is seen with a delay, and the first of these changes may be older.
        await pause(3_000);
        await acknowledged(20);
      } finally {
        mend();
      }
      await cluster.healthy();
      await acknowledged(20);
    },
  });
}

async function rehearseSqlite(directory: string, until: number): Promise<void> {
  for (let round = 0; round < rounds && Date.now() < until; round++) {
    seed += 1;
    note('SQLite: killed, full disk, clock jumps', await runSqliteRound(directory, seed));
  }
}

function report(): string {
  const lines = rows.map(({ name, results }) => {
    const sum = (member: 'changes' | 'unknown' | 'lost' | 'resets') =>
      `${results.reduce((total, one) => total + one[member], 0)}`;
    const times = results.map(({ interruption }) => interruption / 1000).sort((one, other) => one - other);
    const median = times[Math.floor(times.length / 2)] ?? 0;
    const broken = results.filter(({ violations }) => violations.length > 0).length;
    return [
      name,
      `${results.length}`,
      `${broken}`,
      median.toFixed(1),
      (times.at(-1) ?? 0).toFixed(1),
      ...(['changes', 'unknown', 'lost', 'resets'] as const).map(sum),
    ];
  });
  const header = ['Run', 'Rounds', 'Broken', 'Median s', 'Longest s', 'Changes', 'Unknown', 'Lost', 'Resets'];
  return `${machine()}\n\n${table(header, lines)}`;
}

async function main(directory: string): Promise<void> {
  const runs = RUNS.filter(({ key }) => isChosen(key));
  const hasSqlite = isChosen('sqlite');
  const share = (deadline - Date.now()) / (runs.length + (hasSqlite ? 1 : 0));
  for (const run of runs) await rehearse(run, directory, Date.now() + share);
  if (hasSqlite) await rehearseSqlite(directory, deadline);
  console.log(report());
  if (rows.some(({ results }) => results.some(({ violations }) => violations.length > 0))) process.exitCode = 1;
}

// Disks are unmounted when the process exits.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

const missing = missingPrograms();
if (process.getuid?.() !== 0) console.error('Rehearsing a failover needs root.');
else if (missing.length > 0)
  console.error(`Rehearsing a failover needs Debian's packages; missing: ${missing.join(' ')}`);
else await inTemporaryFolder(main);
