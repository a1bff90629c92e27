import type { Express } from 'express';
import request, { type Response } from 'supertest';
import type { Method } from '../../src/api/route.js';
import type { Target } from './adapters.js';
import { secretFor } from './contract-host.js';
import type { RowRequest } from './row.js';

/** The parts of a response that the table compares. */
export type SentResponse = Pick<Response, 'status' | 'text' | 'body' | 'headers' | 'get'>;

/** Sends a row's request, with the token that its path needs: over HTTP, or to a handler of the Fetch API. */
export async function send(app: Target, { method, path, body, headers = {} }: RowRequest): Promise<SentResponse> {
  const defaults = {
    authorization: secretFor(path),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  };
  const sent = Object.entries({ ...defaults, ...headers }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  if (isFetchHandler(app)) {
    const url = `http://localhost${path}`;
    return fromFetch(
      await app(new Request(url, { method, headers: new Headers(sent.map(([n, v]) => [n, v])), body: text ?? null })),
    );
  }
  const pending = request(app)[lowerCase(method)](path);
  for (const [name, value] of sent) pending.set(name, value);
  return text === undefined ? pending : pending.send(text);
}

/** An application of Express is a function too, but of two parameters and more. */
function isFetchHandler(
  app: Target,
): app is Exclude<Target, Express> & ((request: Request) => Promise<globalThis.Response>) {
  return typeof app === 'function' && app.length === 1;
}

async function fromFetch(response: globalThis.Response): Promise<SentResponse> {
  const text = await response.text();
  const headers = Object.fromEntries(response.headers);
  const isJson = headers['content-type']?.includes('json') && text !== '';
  return {
    status: response.status,
    text,
    body: isJson ? JSON.parse(text) : {},
    headers,
    get: ((name: string) => headers[name.toLowerCase()]) as Response['get'],
  };
}

function lowerCase(method: Method): Lowercase<Method> {
  return method.toLowerCase() as Lowercase<Method>;
}
