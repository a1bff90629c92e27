import { createServer } from 'node:http';
import { openFlags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { createFlagsRouter } from '@flags/express';
import Database from 'better-sqlite3';
import express, { type Request, type Response } from 'express';
import { type Answer, exchange } from '../builds/exchange.js';
import type { Tokens } from '../builds/flags-server.js';
import { requestsOf, type Scenario } from '../builds/scenarios.js';
import { announce, configuration, originOf } from '../builds/served.js';
import { populate } from '../population.js';
import { recordWrites, repeatWrites } from './recorded-writes.js';
import { scenarioNamed } from './scenarios.js';

export interface BareServer {
  /** The name of a scenario. */
  readonly name: string;
  /** The database to create. */
  readonly file: string;
}

const { name, file } = await configuration<BareServer>();
const scenario = scenarioNamed(name);
const database = new Database(file);
database.pragma('journal_mode = WAL');
database.pragma('synchronous = FULL');
const { answer, tokens, write } = await observe(scenario);

const app = express();
app.disable('x-powered-by');
app.disable('etag');
if (write) app.use(express.json());
app.use((_request: Request, response: Response) => {
  write?.();
  response.status(answer.status);
  if (answer.contentType !== undefined) response.set('content-type', answer.contentType);
  if (answer.etag !== undefined) response.set('etag', answer.etag);
  if (answer.body.length === 0) response.end();
  else response.send(answer.body);
});
announce(app, tokens);

/** What the library answers, and writes, for a request of the scenario. */
interface Observed {
  readonly answer: Answer;
  readonly tokens: Tokens;
  /** Makes the same writes again. Undefined if there are none. */
  readonly write: (() => void) | undefined;
}

/** Serves the library on the database for three requests, and closes it. The last one meets a flag that has changed before. */
async function observe(scenario: Scenario): Promise<Observed> {
  const recorded = recordWrites(database);
  const flags = await openFlags({ storage: sqliteStorage({ database: recorded.database }) });
  await populate(flags, { flags: scenario.content.flags, projects: 1 });
  const admin = await flags.tokens.create({ name: 'load', kind: 'admin' });
  const client = await flags.tokens.create({ name: 'load', kind: 'client', environment: 'development' });
  const tokens = { admin: admin.secret, client: client.secret };
  const server = createServer(express().use(createFlagsRouter(flags, { auth: 'token' })));
  const origin = await originOf(server.listen(0, '127.0.0.1'));
  const next = requestsOf(
    { ...scenario, request: (number) => scenario.request(number * scenario.content.flags) },
    tokens[scenario.token],
  );
  await exchange(origin, next());
  await exchange(origin, next());
  recorded.writes.length = 0;
  const answer = await exchange(origin, next());
  const writes = scenario.isRead ? [] : [...recorded.writes];
  server.close();
  await flags.close();
  return {
    answer,
    tokens,
    write: writes.length > 0 ? repeatWrites(database, writes, scenario.content.flags) : undefined,
  };
}
