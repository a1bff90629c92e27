import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Pace, requestsOf } from './compare.js';
import { exchange } from './exchange.js';
import type { Tokens } from './flags-server.js';
import { load, type Round } from './load.js';
import type { Scenario } from './scenarios.js';
import { type ServerProcess, startServer } from './server-process.js';

/** Each build's rounds, in the order in which they were run. */
export interface ComparedBuilds {
  readonly scenario: Scenario;
  readonly now: readonly Round[];
  readonly before: readonly Round[];
}

export interface BuildComparison {
  readonly scenario: Scenario;
  /** The root of the other repository, with its benchmarks built. */
  readonly before: string;
  /** Where the databases are created; undefined for servers in memory. */
  readonly directory: string | undefined;
  readonly pace: Pace;
}

/** Has this build and another one serve the same requests, in turns. Their responses may differ, but not in the status. */
export async function compareBuilds({ scenario, before, directory, pace }: BuildComparison): Promise<ComparedBuilds> {
  const other = pathToFileURL(resolve(before, 'benchmarks/dist/http/flags-server.js')).href;
  const rounds: Record<'now' | 'before', Round[]> = { now: [], before: [] };
  const builds: { rounds: Round[]; server: ServerProcess; next: ReturnType<typeof requestsOf>; status: number }[] = [];
  try {
    for (const [name, program] of Object.entries({ now: 'flags-server.js', before: other })) {
      const file = directory && join(directory, `${name}-${Date.now()}.db`);
      const server = await startServer<Tokens>(program, { content: scenario.content, ...(file && { file }) });
      const build = { rounds: rounds[name as keyof typeof rounds], server };
      builds.push({ ...build, ...(await firstRequest(scenario, server)) });
    }
    for (let number = 0; number <= pace.rounds; number++) {
      // The first round warms up. The builds take turns at being first, because a machine may slow down during a pair.
      for (const build of number % 2 === 0 ? builds : builds.toReversed()) {
        const round = await load({ ...build, seconds: pace.seconds });
        if (number > 0) build.rounds.push(round);
      }
    }
  } finally {
    for (const { server } of builds) await server.stop();
  }
  return { scenario, ...rounds };
}

/** Each build has its own requests: it must be sent every change. */
async function firstRequest(scenario: Scenario, server: ServerProcess<Tokens>) {
  const next = requestsOf(scenario, server.details[scenario.token]);
  const { status, headers } = await exchange(server.origin, next());
  const { etag } = headers;
  if (!scenario.conditional || !etag) return { next, status };
  const conditional = () => {
    const request = next();
    return { ...request, headers: { ...request.headers, 'if-none-match': etag } };
  };
  return { next: conditional, status: 304 };
}
