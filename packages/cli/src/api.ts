import { randomUUID } from 'node:crypto';
import { type Connection, KEY, MAX_REPLY, readBody, reasonOf, TIMEOUT } from './connection.js';
import { CommandError, EXIT } from './output.js';
import { describeRefusal, textOf } from './refusal-words.js';

/* The admin API as commands call it: requests, their repetition, and refusals in words. */

/** A refusal by the admin API. */
export class ApiError extends CommandError {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    exitCode: number = EXIT.failed,
  ) {
    super(message, exitCode);
  }
}

type Query = Readonly<Record<string, string | number | undefined>>;

/** The admin API of a connection. */
export interface Api {
  readonly connection: Connection;
  get<T>(path: string, query?: Query): Promise<T>;
  /** Reads the text of a long reply in pieces. */
  read(path: string, query?: Query): AsyncGenerator<string, void>;
  /** Gets a flag, project or segment with its revision, which a change may expect. */
  getRevised<T>(path: string): Promise<{ readonly state: T; readonly revision: number }>;
  /** @param why the reasons, if the request is a change; it must be safe to repeat */
  post<T>(path: string, body?: unknown, why?: Why): Promise<T>;
  /** Sends a change. Its key makes repetition safe, so the request is repeated once after a lost reply. */
  change<T>(path: string, body: unknown, why?: Why): Promise<T>;
  /** @param reason shown in the history */
  delete(path: string, reason?: string): Promise<void>;
}

/** The reasons of a change that its body does not have. */
interface Why {
  readonly reason?: string | undefined;
  /** Why the change bypasses the approval that it needs. */
  readonly bypassApproval?: string | undefined;
}

interface Sent extends Why {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  /** Makes repetition safe. */
  readonly key?: string | undefined;
}

function withQuery(path: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return search.size === 0 ? path : `${path}?${search}`;
}

async function* piecesIn({ body }: Response, server: string): AsyncGenerator<Uint8Array, void> {
  try {
    yield* body ?? [];
  } catch (error) {
    throw new CommandError(`${server} ended its reply early (${reasonOf(error)}). The output is not complete.`);
  }
}

/** A time limit for each piece of a long reply, because the whole reply may take longer. */
function createIdleLimit() {
  const controller = new AbortController();
  let timer: NodeJS.Timeout;
  const start = () => {
    timer = setTimeout(() => controller.abort(new Error('the server sends nothing')), TIMEOUT);
  };
  start();
  return { signal: controller.signal, start, stop: () => clearTimeout(timer) };
}

/** Creates a client of the admin API. Paths are relative to `/api/admin`. */
export function createApi(connection: Connection): Api {
  async function send<T>(sent: Sent): Promise<T> {
    const { text } = await exchange(sent);
    return (text === '' ? undefined : parse(connection, text)) as T;
  }

  async function exchange({
    method,
    path,
    body,
    key,
    reason,
    bypassApproval,
  }: Sent): Promise<{ text: string; etag: string }> {
    const headers = {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(key !== undefined && { [KEY]: key }),
      ...(reason !== undefined && { 'x-change-reason': encodeURIComponent(reason) }),
      ...(bypassApproval !== undefined && { 'x-bypass-approval': encodeURIComponent(bypassApproval) }),
    };
    const init = body === undefined ? { headers } : { headers, body: JSON.stringify(body) };
    const response = await connection.fetch(`/api/admin${path}`, { method, ...init });
    const text = await readBody(response, connection.name, connection.flags ? Infinity : MAX_REPLY);
    if (!response.ok) throw refusal(connection, { path, status: response.status, text });
    return { text, etag: response.headers.get('etag') ?? '' };
  }

  return {
    connection,
    get: (path, query) => send({ method: 'GET', path: withQuery(path, query) }),
    async *read(path, query) {
      const idle = createIdleLimit();
      try {
        const init = { method: 'GET', signal: idle.signal };
        const response = await connection.fetch(`/api/admin${withQuery(path, query)}`, init);
        if (!response.ok) {
          const text = await readBody(response, connection.name);
          throw refusal(connection, { path, status: response.status, text });
        }
        const decoder = new TextDecoder();
        for await (const piece of piecesIn(response, connection.name)) {
          idle.stop();
          yield decoder.decode(piece, { stream: true });
          idle.start();
        }
        yield decoder.decode();
      } finally {
        idle.stop();
      }
    },
    async getRevised<T>(path: string) {
      const { text, etag } = await exchange({ method: 'GET', path });
      // The tag of a document begins with its revision.
      return { state: parse(connection, text) as T, revision: Number(/^(?:W\/)?"(\d+)/.exec(etag)?.[1]) };
    },
    post: (path, body = {}, { reason, bypassApproval } = {}) =>
      send({ method: 'POST', path, body, reason, bypassApproval }),
    async change(path, body, why = {}) {
      const sent = { method: 'POST', path, body, key: randomUUID(), ...why };
      try {
        return await send(sent);
      } catch (error) {
        if (error instanceof ApiError && error.code !== 'outcome_unknown') throw error;
        return send(sent);
      }
    },
    delete: async (path, reason) => void (await send({ method: 'DELETE', path, reason })),
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

/** The maximum number of shown details of an error. */
const MAX_DETAILS = 100;

interface Refused {
  readonly path: string;
  readonly status: number;
  readonly text: string;
}

function refusal(connection: Connection, { path, status, text }: Refused): CommandError {
  let body: Readonly<Record<string, unknown>>;
  try {
    body = Object(JSON.parse(text));
  } catch {
    return new ApiError(status, 'unknown', notTheApi(connection, status));
  }
  const code = textOf(body.code) ?? 'unknown';
  const message = textOf(body.message) ?? `The server answered ${status}.`;
  if (status === 401) return new ApiError(status, code, `${connection.name} ${connection.refusal}`);
  if (status === 404 && (code === 'unknown' || code === 'not_found'))
    return new ApiError(status, code, notTheApi(connection, status));
  const details: readonly unknown[] = Array.isArray(body.details) ? body.details.slice(0, MAX_DETAILS) : [];
  const sentence = describeRefusal(message, details);
  // A document is not part of the command line.
  const isOfOptions = path !== '/import' && (code === 'invalid_input' || code === 'environment_not_found');
  return new ApiError(status, code, sentence, isOfOptions ? EXIT.usage : EXIT.failed);
}
