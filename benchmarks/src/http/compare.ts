import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { BareServer } from './bare-server.js';
import { exchange, type SentRequest } from './exchange.js';
import type { Tokens } from './flags-server.js';
import { load, type Round } from './load.js';
import type { Scenario } from './scenarios.js';
import { type ServerProcess, startServer } from './server-process.js';
import { writtenRows } from './written-rows.js';

/** Each side's rounds, in the order in which they were run. */
export interface Compared {
  readonly flags: readonly Round[];
  readonly bare: readonly Round[];
  /** A bare handler that writes the same rows to a database of its own, where the library writes to one. */
  readonly writing: readonly Round[];
}

export interface Comparison {
  readonly scenario: Scenario;
  readonly server: ServerProcess<Tokens>;
  /** The library's database; undefined when it is in memory. */
  readonly file: string | undefined;
  readonly directory: string;
  readonly pace: Pace;
}

export interface Pace {
  readonly rounds: number;
  readonly seconds: number;
}

const DIFFERENT = 'The bare handler answers something else than the library.';

/** Has the library and the bare handlers serve the same requests, in turns. They answer the same, or nothing is measured. */
export async function compare({ scenario, server, file, directory, pace }: Comparison): Promise<Compared> {
  const plain = requestsOf(scenario, server.details[scenario.token]);
  const request = plain();
  const answer = await exchange(server.origin, request);
  const { etag } = answer.headers;
  const next = scenario.conditional && etag ? () => withHeader(plain(), 'if-none-match', etag) : plain;
  const status = scenario.conditional ? 304 : answer.status;
  const configuration: BareServer = { method: request.method, path: scenario.path, answer };
  const bare = await startServer('bare-server.js', configuration);
  const rows = scenario.writes &&
    file && { ...writtenRows(file, scenario.writes), file: join(directory, `bare-${Date.now()}.db`) };
  const writing = rows ? await startServer('bare-server.js', { ...configuration, rows }) : undefined;
  const others = writing ? { bare, writing } : { bare };
  try {
    for (const other of Object.values(others)) {
      assert.deepEqual(await exchange(other.origin, request), answer, DIFFERENT);
    }
    if (scenario.conditional) {
      assert.deepEqual(await exchange(bare.origin, next()), await exchange(server.origin, next()), DIFFERENT);
    }
    return await takeTurns({ flags: server, ...others }, { next, status, pace });
  } finally {
    for (const other of Object.values(others)) await other.stop();
  }
}

interface Turns {
  readonly next: () => SentRequest;
  readonly status: number;
  readonly pace: Pace;
}

/** A round each to warm up, which does not count. */
async function takeTurns(
  servers: Readonly<Record<string, ServerProcess>>,
  { pace: { rounds, seconds }, ...sent }: Turns,
): Promise<Compared> {
  const compared: Record<keyof Compared, Round[]> = { flags: [], bare: [], writing: [] };
  for (let number = 0; number <= rounds; number++) {
    for (const [side, server] of Object.entries(servers)) {
      const round = await load({ server, ...sent, seconds });
      if (number > 0) compared[side as keyof Compared].push(round);
    }
  }
  return compared;
}

/** Returns the next request at each call, with the token. */
export function requestsOf({ request }: Scenario, token: string): () => SentRequest {
  let number = 0;
  return () => withHeader(request(number++), 'authorization', token);
}

function withHeader(request: SentRequest, name: string, value: string): SentRequest {
  return { ...request, headers: { ...request.headers, [name]: value } };
}
