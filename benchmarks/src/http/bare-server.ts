import express, { type Request, type Response } from 'express';
import { createBareWrite, type SameRows } from './bare-write.js';
import type { Answer } from './exchange.js';
import { announce, configuration } from './served.js';

/** What the bare handler answers. */
export interface BareServer {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly answer: Answer;
  /** Written with every request, as durably; nothing when absent. */
  readonly rows?: SameRows;
}

const { method, path, answer, rows } = await configuration<BareServer>();
const bytes = Buffer.from(answer.body);
const write = rows && createBareWrite(rows);

const app = express();
app.disable('x-powered-by');
app.disable('etag');
if (method !== 'GET') app.use(express.json());
app[method.toLowerCase() as Lowercase<typeof method>](path, (_request: Request, response: Response) => {
  write?.();
  response.status(answer.status).set(answer.headers);
  if (bytes.length === 0) response.end();
  else response.send(bytes);
});
announce(app, {});
