import type { Connection } from './connection.js';
import { CommandError } from './errors.js';

/** A refusal by the admin API. */
export class ApiError extends CommandError {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** The admin API of a connection. */
export interface Api {
  readonly connection: Connection;
  get<T>(path: string, query?: Readonly<Record<string, string | number | undefined>>): Promise<T>;
  post<T>(path: string, body?: unknown): Promise<T>;
  delete(path: string): Promise<void>;
}

/** Creates a client of the admin API. Paths are relative to `/api/admin`. */
export function createApi(connection: Connection): Api {
  async function send<T>(method: string, path: string, body?: unknown): Promise<T> {
    const init =
      body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    const response = await connection.fetch(`/api/admin${path}`, { method, ...init });
    const text = await response.text();
    if (!response.ok) throw refusal(connection, response.status, text);
    return (text === '' ? undefined : parse(connection, text)) as T;
  }

  return {
    connection,
    get: (path, query = {}) => {
      const search = new URLSearchParams();
      for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
      return send('GET', search.size === 0 ? path : `${path}?${search}`);
    },
    post: (path, body = {}) => send('POST', path, body),
    delete: (path) => send('DELETE', path),
  };
}

function parse(connection: Connection, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CommandError(`${connection.name} does not answer with JSON. Is it the address of the flags API?`);
  }
}

function notTheApi({ name }: Connection, status: number): string {
  return `${name} answered ${status}. Is it the address of the flags API?`;
}

interface ErrorBody {
  readonly code?: string;
  readonly message?: string;
  readonly details?: readonly { readonly message: string; readonly path?: string }[];
}

function refusal(connection: Connection, status: number, text: string): CommandError {
  let body: ErrorBody;
  try {
    body = JSON.parse(text) as ErrorBody;
  } catch {
    return new ApiError(status, 'unknown', notTheApi(connection, status));
  }
  const { code = 'unknown', message = `The server answered ${status}.`, details = [] } = body;
  if (status === 401) return new ApiError(status, code, `${connection.name} ${connection.refusal}`);
  if (status === 404 && (code === 'unknown' || code === 'not_found'))
    return new ApiError(status, code, notTheApi(connection, status));
  const lines = details.map((detail) => `\n  ${detail.path ? `${detail.path}: ` : ''}${detail.message}`);
  return new ApiError(status, code, `${message}${lines.join('')}`);
}
