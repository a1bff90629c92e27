import { join } from 'node:path';
import { table } from '../markdown.js';
import { median } from '../median.js';
import { THIS_BUILD } from './build.js';
import { exchange, type SentRequest } from './exchange.js';
import type { Tokens } from './flags-server.js';
import { load, type Round } from './load.js';
import { isWithin } from './margin.js';
import { requestsOf, SCENARIOS, type Scenario, withHeader } from './scenarios.js';
import { type ServerProcess, startServer } from './server-process.js';

export interface RouteComparison {
  /** The root of the other repository. */
  readonly before: string;
  /** Where the databases are created; undefined for servers in memory. */
  readonly folder: string | undefined;
  readonly rounds: number;
  /** Of a round. */
  readonly seconds: number;
  /** Only routes whose name contains this. */
  readonly only: string;
}

/** A running build and its rounds. */
interface Side {
  readonly server: ServerProcess;
  readonly next: () => SentRequest;
  readonly status: number;
  readonly rounds: Round[];
}

/** Compares this build with another one over HTTP, each in a separate process. */
export async function routeTable(comparison: RouteComparison): Promise<string> {
  const rows: (readonly string[])[] = [];
  for (const scenario of SCENARIOS.filter(({ name }) => name.includes(comparison.only))) {
    const row = await rowOf(scenario, comparison);
    console.error(...row);
    rows.push(row);
  }
  const header = ['route', 'requests/s', 'before', 'ratio', 'within', 'p99, ms', 'before', 'processor time'];
  return table(header, rows);
}

/** Sends the same requests to both builds, in turn. Their responses may differ, but not in the status. */
async function rowOf(scenario: Scenario, comparison: RouteComparison): Promise<readonly string[]> {
  const { before, folder, rounds, seconds } = comparison;
  const sides: Side[] = [];
  try {
    for (const repository of [THIS_BUILD, before]) {
      const file = folder && join(folder, `${sides.length}-${Date.now()}.db`);
      const { content } = scenario;
      const server = await startServer<Tokens>('flags-server.js', { repository, content, ...(file && { file }) });
      sides.push({ server, rounds: [], ...(await firstRequest(scenario, server)) });
    }
    for (let number = 0; number <= rounds; number++) {
      // The first round warms up. The builds take turns at being first, because a machine may slow down during a pair.
      for (const side of number % 2 === 0 ? sides : sides.toReversed()) {
        const round = await load({ ...side, seconds });
        if (number > 0) side.rounds.push(round);
      }
    }
  } finally {
    for (const { server } of sides) await server.stop();
  }
  const [now = [], old = []] = sides.map((side) => side.rounds);
  return cellsOf(scenario, now, old);
}

/** Sends the first request of a build. Each build has separate requests, because it must receive every change. */
async function firstRequest(scenario: Scenario, server: ServerProcess<Tokens>): Promise<Pick<Side, 'next' | 'status'>> {
  const next = requestsOf(scenario, server.details[scenario.token]);
  const { status, etag } = await exchange(server.origin, next());
  if (!scenario.conditional || !etag) return { next, status };
  return { next: () => withHeader(next(), 'if-none-match', etag), status: 304 };
}

function cellsOf({ name, isRead }: Scenario, now: readonly Round[], old: readonly Round[]): readonly string[] {
  const perSecond = (round: Round) => round.requestsPerSecond;
  const ratio = medianRatio(now, old, perSecond);
  const rates = [now, old].map((rounds) => Math.round(median(rounds.map(perSecond))).toLocaleString('en'));
  const latencies = [now, old].map((rounds) => median(rounds.map(({ p99 }) => p99)).toFixed(0));
  const processor = medianRatio(now, old, ({ processorTime }) => processorTime);
  const margin = isRead ? isWithin(1 / ratio) : '';
  return [name, ...rates, ratio.toFixed(2), margin, ...latencies, `× ${processor.toFixed(2)}`];
}

/** Round by round, because adjacent rounds run under the same conditions. */
function medianRatio(ours: readonly Round[], theirs: readonly Round[], figure: (round: Round) => number): number {
  return median(
    ours.flatMap((round, number) => {
      const other = theirs[number];
      return other ? [figure(round) / figure(other)] : [];
    }),
  );
}
