import { createFlags, memoryStorage } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { createFlagsRouter } from '@flags/express';
import express from 'express';
import { type Content, fill, keepChanging } from './content.js';
import { announce, configuration } from './served.js';

/** What the library is started with. */
export interface FlagsServer {
  /** The database; in memory when absent. */
  readonly file?: string;
  readonly content: Content;
}

/** Who may come in. */
export interface Tokens {
  readonly admin: string;
  readonly client: string;
}

const { file, content } = await configuration<FlagsServer>();
const flags = await createFlags({ storage: file === undefined ? memoryStorage() : sqliteStorage(file) });
await fill(flags, content);
const admin = await flags.createToken({ name: 'load', kind: 'admin' });
const client = await flags.createToken({ name: 'load', kind: 'client', environment: 'development' });
keepChanging(flags, content);

const app = express();
app.disable('x-powered-by');
app.use(createFlagsRouter(flags, { auth: 'token' }));
announce(app, { admin: admin.secret, client: client.secret });
