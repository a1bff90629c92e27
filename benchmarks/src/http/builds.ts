import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Pace, requestsOf } from './compare.js';
import { exchange, type SentRequest } from './exchange.js';
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

/** A running build and its rounds. */
interface Build {
  readonly server: ServerProcess;
  readonly next: () => SentRequest;
  readonly status: number;
  readonly rounds: Round[];
}

/** Has this build and another one serve the same requests, in turns. Their responses may differ, but not in the status. */
export async function compareBuilds({ scenario, before, directory, pace }: BuildComparison): Promise<ComparedBuilds> {
  const other = pathToFileURL(resolve(before, 'benchmarks/dist/http/flags-server.js')).href;
  const builds: Build[] = [];
  try {
    for (const program of ['flags-server.js', other]) {
      const file = directory && join(directory, `${builds.length}-${Date.now()}.db`);
      const server = await startServer<Tokens>(program, { content: scenario.content, ...(file && { file }) });
      builds.push({ server, rounds: [], ...(await firstRequest(scenario, server)) });
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
  const [now = [], old = []] = builds.map(({ rounds }) => rounds);
  return { scenario, now, before: old };
}

/** Sends the first request of a build. Each build has requests of its own, because it must be sent every change. */
async function firstRequest(
  scenario: Scenario,
  server: ServerProcess<Tokens>,
): Promise<Pick<Build, 'next' | 'status'>> {
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
