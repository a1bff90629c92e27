import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FlagsApi } from './create-api.js';
import { partsOfTarget } from './query.js';
import { readStream } from './read-stream.js';
import { DEFAULT_HEADERS, type FlagsReply, NOT_FOUND, UNEXPECTED } from './reply.js';
import type { FlagsRequest } from './request.js';

/** What a mounting framework may have added to a request of Node. */
export interface NodeRequest extends IncomingMessage {
  /** The URL before the framework took the path of the mount off. */
  readonly originalUrl?: string;
  /** The body that a parser of the host has read. */
  body?: unknown;
}

/** The next handler of the host. With an error, the host's error handler. */
export type NextHandler = (error?: unknown) => void;

export interface NodeHandlerOptions<Request extends IncomingMessage = IncomingMessage> {
  /** Where the API is mounted, such as `/internal/flags`, when the framework leaves this path in `request.url`. */
  readonly basePath?: string;
  /** The client's address; that of the connection when absent. Give it where the server stands behind a proxy. */
  readonly ip?: (request: Request) => string | undefined;
  /**
   * Gets defects, and errors of your own functions, where there is no `next` to get them. The client gets 500. Written to
   * standard error when absent.
   */
  readonly onUnexpectedError?: (error: unknown) => void;
}

/** Handles requests of `node:http`, and of the frameworks that build on it. */
export type NodeHandler<Request extends IncomingMessage = IncomingMessage> = (
  request: Request,
  response: ServerResponse,
  next?: NextHandler,
) => Promise<void>;

/**
 * Makes a handler `(request, response, next?)` for plain `node:http`, Connect, Fastify, Koa and NestJS. Other paths, defects
 * and errors of your own functions go to `next`; without `next`, other paths get 404 and errors 500. The promise resolves
 * when the reply is written, or `next` is called.
 *
 * @example
 * http.createServer(toNodeHandler(createFlagsApi(flags, { auth: 'token' }))).listen(4242);
 */
export function toNodeHandler<Request extends IncomingMessage = IncomingMessage>(
  api: FlagsApi<Request>,
  { basePath = '', ip, onUnexpectedError = console.error }: NodeHandlerOptions<Request> = {},
): NodeHandler<Request> {
  const belowBase = createPathBelow(basePath);
  return async (request, response, next) => {
    const { path, query } = partsOfTarget(request.url ?? '/');
    const below = belowBase(path);
    if (below === undefined || !api.isOwnPath(below)) return next ? next() : refuse(response, 404);
    await handleNode(api, {
      request: fromNode(request, { path: below, rawQuery: query, ip: () => ipOf(request) }),
      response,
      next:
        next ??
        ((error) => {
          if (error !== undefined) onUnexpectedError(error);
          refuse(response, error === undefined ? 404 : 500);
        }),
    });
  };

  function ipOf(request: Request): string | undefined {
    return ip ? ip(request) : request.socket.remoteAddress;
  }
}

/** Finds the path below a base path, whose case and trailing slash do not matter; undefined for any other path. */
export function createPathBelow(basePath: string): (path: string) => string | undefined {
  const base = (basePath.endsWith('/') ? basePath.slice(0, -1) : basePath).toLowerCase();
  return (path) => {
    if (base === '') return path;
    if (!path.toLowerCase().startsWith(base)) return undefined;
    const rest = path.slice(base.length);
    return rest === '' || rest.startsWith('/') ? rest : undefined;
  };
}

export interface NodeExchange<Request> {
  readonly request: FlagsRequest<Request>;
  readonly response: ServerResponse;
  readonly next: NextHandler;
}

/** For adapters: has the API answer one request, and writes its reply. Never rejects unless `next` throws. */
export async function handleNode<Request>(
  api: FlagsApi<Request>,
  { request, response, next }: NodeExchange<Request>,
): Promise<void> {
  let error: unknown;
  try {
    const reply = await api.handle(request);
    if (reply) return await writeToNode(response, reply);
  } catch (caught) {
    error = caught;
  }
  if (!response.headersSent) setHeaders(response, api.corsHeaders(request));
  if (error === undefined) next();
  else next(error);
}

/** What the mount decides about a request. */
export interface NodeMount extends Pick<FlagsRequest, 'path' | 'rawQuery' | 'ip' | 'onMatch'> {}

/** For adapters: the neutral form of a request of Node. */
export function fromNode<Request extends NodeRequest>(request: Request, mount: NodeMount): FlagsRequest<Request> {
  const { headers } = request;
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  return {
    ...mount,
    method: request.method ?? 'GET',
    originalUrl: request.originalUrl ?? request.url ?? '/',
    headers,
    host: headers.host,
    hasBody,
    native: request,
    async readBody(limit) {
      if (!hasBody) return isFiller(request.body) ? undefined : request.body;
      return isRead(request) ? request.body : readStream(request, { headers, limit });
    },
  };
}

/** Body parsers for Express 4 leave `{}` behind when there was nothing to parse. */
function isFiller(body: unknown): boolean {
  return body === undefined || (typeof body === 'object' && body !== null && Object.keys(body).length === 0);
}

/** Parsers of Express 4 leave the mark `_body`; any other reader leaves a value, or at least an ended stream. */
function isRead(request: NodeRequest & { readonly _body?: unknown }): boolean {
  return request._body === true || request.readableEnded || !isFiller(request.body);
}

/**
 * Writes by Node's own means, so that no setting of the host application (`etag`, `json spaces`, …) changes it. Rejects when
 * the rest of a long body cannot be made; the connection is closed then.
 */
export async function writeToNode(response: ServerResponse, reply: FlagsReply): Promise<void> {
  // The host may have answered meanwhile, with a timeout for example.
  if (response.headersSent) return reply.discard?.();
  response.statusCode = reply.status;
  for (const [name, value] of DEFAULT_HEADERS) if (!response.hasHeader(name)) response.setHeader(name, value);
  setHeaders(response, reply.headers);
  if (reply.stream) {
    response.flushHeaders();
    return reply.stream(response);
  }
  response.end(reply.body);
}

/** Middleware of the host may vary its answers too. */
function setHeaders(response: ServerResponse, headers: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(headers)) {
    if (name === 'vary') response.appendHeader(name, headers[name] ?? '');
    else response.setHeader(name, headers[name] ?? '');
  }
}

function refuse(response: ServerResponse, status: 404 | 500): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'x-content-type-options': 'nosniff',
  });
  response.end(status === 404 ? NOT_FOUND : UNEXPECTED);
}
