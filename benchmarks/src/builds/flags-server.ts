import type { Flags } from '@flags/core';
import express from 'express';
import { placeAt, populate } from '../population.js';
import { createToken, openerOf, reportOf, routerOf } from './build.js';
import { announce, configuration } from './served.js';

/** The content of a server under load. */
export interface Content {
  readonly flags: number;
  /** The number of switches of one flag meanwhile. */
  readonly changesPerSecond: number;
}

/** The options of a server. */
export interface FlagsServer {
  /** The repository whose build serves. */
  readonly repository: string;
  /** The database; in memory when absent. */
  readonly file?: string;
  readonly content: Content;
}

/** The authentication. */
export interface Tokens {
  readonly admin: string;
  readonly client: string;
}

const { repository, file, content } = await configuration<FlagsServer>();
const open = await openerOf(repository, { file });
const flags = await open();
await populate(flags, { flags: content.flags, projects: 1 });
await reportAll(flags, content);
const admin = await createToken(flags, { name: 'load', kind: 'admin' });
const client = await createToken(flags, { name: 'load', kind: 'client', environment: 'development' });
keepChanging(flags, content);

const app = express();
app.disable('x-powered-by');
app.use(await routerOf(repository, flags));
announce(app, { admin: admin.secret, client: client.secret });

/** Lists then show when flags were last seen. */
async function reportAll(flags: Flags, { flags: count }: Content): Promise<void> {
  for (let first = 0; first < count; first += 500) {
    const names = Array.from({ length: Math.min(500, count - first) }, (_, at) => placeAt(first + at).flag);
    await flags.reportMetrics(reportOf(Object.fromEntries(names.map((name) => [name, { yes: 1, no: 1 }]))));
  }
}

/** Runs until the process ends. */
function keepChanging(flags: Flags, { changesPerSecond }: Content): void {
  if (changesPerSecond === 0) return;
  const place = placeAt(1);
  let changes = 0;
  setInterval(() => void (changes++ % 2 === 0 ? flags.disable(place) : flags.enable(place)), 1000 / changesPerSecond);
}
