import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pause } from '@flags/core/integration/shared';
import type { FlagsApi } from '../api/create-api.js';
import { partsOfTarget } from '../api/query.js';
import { DEFAULT_HEADERS, type FlagsReply, NOT_FOUND, UNEXPECTED } from '../messages/reply.js';
import { type BodyMeter, drain, type FlagsRequest, readStream } from '../messages/request.js';

/*
 * The adapter for `node:http`, and for frameworks built on it.
 */

/** A Node request, with the properties that a framework may add. */
export interface NodeRequest extends IncomingMessage {
  /** The URL before the framework stripped the mount path. */
  readonly originalUrl?: string;
  /** The body, if a parser of the host has read it. */
  body?: unknown;
}

/** Calls the next handler of the host, or its error handler if there is an error. */
export type NextHandler = (error?: unknown) => void;

/** Options of `toNodeHandler`. */
export interface NodeHandlerOptions<Request extends IncomingMessage = IncomingMessage> {
  /**
   * The mount path of the API, such as `/internal/flags`. Set it when the framework keeps this path in `request.url`.
   */
  readonly basePath?: string;
  /** Returns the client's address. Default: the address of the connection. Set it for servers behind a proxy. */
  readonly ip?: (request: Request) => string | null | undefined;
  /**
   * Returns the path that a proxy in front has removed, such as the header `X-Forwarded-Prefix` of a proxy that you trust.
   * Addresses of event streams begin with it. Default: none.
   */
  readonly prefix?: (request: Request) => string | null | undefined;
  /**
   * Receives defects and errors of your own functions when there is no `next`. The client gets 500. Default: writes
   * them to standard error.
   */
  readonly onUnexpectedError?: (error: unknown) => void;
}

/** Handles requests of `node:http` and of frameworks built on it. */
export type NodeHandler<Request extends IncomingMessage = IncomingMessage> = (
  request: Request,
  response: ServerResponse,
  next?: NextHandler,
) => Promise<void>;

/**
 * Creates a handler `(request, response, next?)` for plain `node:http`, Connect, Fastify, Koa and NestJS.
 *
 * The handler calls `next` for paths outside the API. It passes defects and errors of your own functions to `next`.
 * Without `next`, it replies 404 for other paths and 500 for errors. Safe to call concurrently.
 *
 * @param api The API from `createFlagsApi`.
 * @returns The handler. Its promise resolves after the reply is written or `next` is called.
 * @example
 * http.createServer(toNodeHandler(createFlagsApi(flags, { auth: 'token' }))).listen(4242);
 */
export function toNodeHandler<Request extends IncomingMessage = IncomingMessage>(
  api: FlagsApi<Request>,
  { basePath = '', ip, prefix, onUnexpectedError = console.error }: NodeHandlerOptions<Request> = {},
): NodeHandler<Request> {
  assertApi('toNodeHandler', api);
  const belowBase = createPathBelow(basePath);
  return async (request, response, next) => {
    const { path } = partsOfTarget(request.url ?? '/');
    const below = belowBase(path);
    if (below === undefined || !api.isOwnPath(below)) return next ? next() : refuse(response, 404);
    await handleNode(api, {
      request: fromNode(request, {
        response,
        path: below,
        ip: () => ipOf(request),
        prefix: () => prefix?.(request) ?? undefined,
      }),
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
    return ip ? (ip(request) ?? undefined) : request.socket.remoteAddress;
  }
}

/** Throws a TypeError unless the argument is the API. JavaScript callers may pass the flags by mistake. */
export function assertApi(caller: string, api: unknown): void {
  const { handle, isOwnPath } = Object(api) as Partial<FlagsApi>;
  if (typeof handle === 'function' && typeof isOwnPath === 'function') return;
  throw new TypeError(
    `${caller} needs the API as its first argument: write ${caller}(createFlagsApi(flags, { auth })).`,
  );
}

/**
 * Creates a function that returns the path below the base path, or undefined for other paths. Ignores the case and
 * trailing slash of the base path.
 */
export function createPathBelow(basePath: string): (path: string) => string | undefined {
  const base = (basePath.endsWith('/') ? basePath.slice(0, -1) : basePath).toLowerCase();
  return (path) => {
    if (base === '') return path;
    if (!path.toLowerCase().startsWith(base)) return undefined;
    const rest = path.slice(base.length);
    return rest === '' || rest.startsWith('/') ? rest : undefined;
  };
}

/** A request and a response of `node:http`. */
export interface NodeExchange<Request> {
  readonly request: FlagsRequest<Request>;
  readonly response: ServerResponse;
  readonly next: NextHandler;
}

/**
 * For adapters: handles one request and writes its reply. Rejects only if `next` throws.
 *
 * @example
 * await handleNode(api, { request: fromNode(request, { response, path, ip: () => request.ip }), response, next });
 */
export async function handleNode<Request>(
  api: FlagsApi<Request>,
  { request, response, next }: NodeExchange<Request>,
): Promise<void> {
  let error: unknown;
  try {
    const reply = await api.handle(request);
    if (reply) {
      // Node discards the rest itself if it keeps the connection.
      if (request.hasBody && !response.shouldKeepAlive) await drain(response.req);
      return await writeToNode(response, reply);
    }
  } catch (caught) {
    error = caught;
  }
  if (!response.headersSent) setHeaders(response, api.corsHeaders(request));
  if (error === undefined) next();
  else next(error);
}

/** The request properties that depend on the mount, and the response. */
export interface NodeMount extends Pick<FlagsRequest, 'path' | 'ip' | 'prefix' | 'onMatch'> {
  /** It emits `close` when the client disconnects. */
  readonly response: ServerResponse;
}

/**
 * For adapters: converts a Node request to a `FlagsRequest`.
 *
 * @example
 * const neutral = fromNode(request, { response, path: request.url ?? '/', ip: () => request.socket.remoteAddress });
 */
export function fromNode<Request extends NodeRequest>(request: Request, mount: NodeMount): FlagsRequest<Request> {
  const { response } = mount;
  if (response.socket === null) pauseWhileMany(request.socket, response);
  return new RequestOfNode(request, mount);
}

/** A class, because object literals with a getter make cached reads a twentieth slower. */
class RequestOfNode<Request extends NodeRequest> implements FlagsRequest<Request> {
  readonly method: string;
  readonly path: string;
  readonly rawQuery: string;
  readonly originalUrl: string;
  readonly headers: IncomingHttpHeaders;
  readonly host: string | undefined;
  readonly hasBody: boolean;
  readonly ip: FlagsRequest['ip'];
  readonly prefix: NonNullable<FlagsRequest['prefix']>;
  readonly onMatch: FlagsRequest['onMatch'];
  private readonly response: ServerResponse;
  private knownSignal: AbortSignal | undefined;

  constructor(
    readonly native: Request,
    { response, path, ip, prefix = () => undefined, onMatch }: NodeMount,
  ) {
    const { method = 'GET', url = '', headers } = native;
    this.method = method;
    this.path = path;
    this.rawQuery = /^[^?#]*\?([^#]*)/.exec(url)?.[1] ?? '';
    this.originalUrl = native.originalUrl ?? (url || '/');
    this.headers = headers;
    this.host = headers.host;
    this.hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
    this.ip = ip;
    this.prefix = prefix;
    this.onMatch = onMatch;
    this.response = response;
  }

  isListening(): boolean {
    return (this.native.socket as { readonly server?: Server }).server?.listening !== false;
  }

  /** Created on demand: short requests do not need it. */
  get signal(): AbortSignal {
    this.knownSignal ??= signalOfClose(this.response);
    return this.knownSignal;
  }

  async readBody(limit: number, meter?: BodyMeter): Promise<unknown> {
    const { native, headers } = this;
    if (!this.hasBody) return isEmptyBody(native.body) ? undefined : native.body;
    return isBodyRead(native) ? native.body : readStream(native, headers, { limit, meter });
  }
}

/** How many requests of one connection wait for their turn before no more are read. */
const MOST_PIPELINED = 32;

const pipelined = new WeakMap<Socket, number>();

/** Counts a request that arrived before the responses to earlier ones of its connection were written. */
function pauseWhileMany(socket: Socket, response: ServerResponse): void {
  const known = pipelined.get(socket);
  const pauseIfMany = () => {
    if ((pipelined.get(socket) ?? 0) <= MOST_PIPELINED) return;
    // Node stops and continues reading at these events. The event of an earlier `resume()` may follow the pause, and pausing
    // twice emits nothing.
    if (socket.isPaused()) socket.emit('pause');
    else socket.pause();
  };
  // Node reads on whenever the client has taken the responses so far.
  if (known === undefined) socket.on('resume', pauseIfMany);
  pipelined.set(socket, (known ?? 0) + 1);
  pauseIfMany();
  response.once('close', () => {
    const left = (pipelined.get(socket) ?? 1) - 1;
    pipelined.set(socket, left);
    if (left === MOST_PIPELINED) socket.resume();
  });
}

/** Returns a signal that aborts when the connection closes before the reply is written. */
function signalOfClose(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const abort = () => {
    if (!response.writableFinished) controller.abort();
  };
  if (response.destroyed) abort();
  else response.once('close', abort);
  return controller.signal;
}

/** Returns whether the body is empty. Body parsers for Express 4 leave `{}` when the request has no body. */
function isEmptyBody(body: unknown): boolean {
  return body === undefined || (typeof body === 'object' && body !== null && Object.keys(body).length === 0);
}

/**
 * Returns whether the body was read, maybe in part. Parsers of Express 4 set `_body`. Other readers leave a value, or a
 * stream from which they have read.
 */
function isBodyRead(request: NodeRequest & { readonly _body?: unknown }): boolean {
  return request._body === true || request.readableDidRead || request.readableEnded || !isEmptyBody(request.body);
}

/** Bytes or characters. */
const LONG_BODY = 128 * 1024;

/**
 * Writes with Node's own methods, so that settings of the host application (`etag`, `json spaces`, …) have no effect.
 * If the rest of a long body fails, closes the connection and rejects.
 */
export async function writeToNode(response: ServerResponse, reply: FlagsReply): Promise<void> {
  // Many requests may share one long body, and the system copies it for each of them.
  if (reply.body && reply.body.length > LONG_BODY) await pause();
  // The host may have replied already, for example after a timeout.
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

/** Merges `vary`, because middleware of the host may set it too. */
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
