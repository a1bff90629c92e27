import type { Express } from 'express';
import request, { type Response } from 'supertest';
import type { Method } from '../../src/route.js';
import { secretFor } from './contract-host.js';
import type { RowRequest } from './row.js';

/** Sends a row's request over HTTP, with the token that its path takes. */
export async function send(app: Express, { method, path, body, headers = {} }: RowRequest): Promise<Response> {
  const defaults = {
    authorization: secretFor(path),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  };
  const pending = request(app)[lowerCase(method)](path);
  for (const [name, value] of Object.entries({ ...defaults, ...headers })) {
    if (value !== undefined) pending.set(name, value);
  }
  return body === undefined ? pending : pending.send(typeof body === 'string' ? body : JSON.stringify(body));
}

function lowerCase(method: Method): Lowercase<Method> {
  return method.toLowerCase() as Lowercase<Method>;
}
