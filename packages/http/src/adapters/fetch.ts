import { PassThrough, Readable } from 'node:stream';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import type { FlagsApi } from '../api/create-api.js';
import { DEFAULT_HEADERS, type FlagsReply, JSON_TYPE, NOT_FOUND } from '../messages/reply.js';
import { type FlagsRequest, readStream } from '../messages/request.js';
import { assertApi, createPathBelow } from './node.js';

/** Options of `toFetchHandler`. */
export interface FetchHandlerOptions {
  /** The mount path of the API, such as `/internal/flags`. Default: the root. */
  readonly basePath?: string;
  /** Returns the client's address, which a `Request` lacks. Default: registrations and contexts have no address. */
  readonly ip?: (request: Request) => string | null | undefined;
  /**
   * Returns the path that a proxy in front has removed, such as the header `X-Forwarded-Prefix` of a proxy that you trust.
   * Addresses of event streams begin with it. Default: none.
   */
  readonly prefix?: (request: Request) => string | null | undefined;
  /** Receives errors of a stream after its head was sent. Default: writes them to standard error. */
  readonly onUnexpectedError?: (error: unknown) => void;
}

/** Handles a Fetch API `Request`. */
export type FetchHandler = (request: Request) => Promise<Response>;

/**
 * Creates a request handler for Fetch API servers: Hono, Next.js route handlers, Bun and Deno.
 *
 * The handler returns 404 for paths outside the API. It rejects with defects and with errors of your own functions,
 * which the framework handles. Safe to call concurrently.
 *
 * @param api The API from `createFlagsApi`.
 * @returns The handler, which resolves to a `Response`.
 * @example
 * // app/flags/[...path]/route.ts of a Next.js application
 * const handler = toFetchHandler(createFlagsApi(flags, { auth: 'token' }), { basePath: '/flags' });
 * export { handler as GET, handler as POST, handler as PUT, handler as PATCH, handler as DELETE, handler as OPTIONS };
 */
export function toFetchHandler(
  api: FlagsApi<Request>,
  { basePath = '', ip, prefix, onUnexpectedError = console.error }: FetchHandlerOptions = {},
): FetchHandler {
  assertApi('toFetchHandler', api);
  const belowBase = createPathBelow(basePath);
  return async (request) => {
    const path = belowBase(new URL(request.url).pathname);
    const reply =
      path !== undefined && api.isOwnPath(path)
        ? await api.handle(
            fromFetch(request, {
              path,
              ip: () => ip?.(request) ?? undefined,
              prefix: () => prefix?.(request) ?? undefined,
            }),
          )
        : undefined;
    return reply ? toResponse(reply, onUnexpectedError) : new Response(NOT_FOUND, { status: 404, headers: JSON_TYPE });
  };
}

function fromFetch(
  request: Request,
  { path, ip, prefix }: Pick<FlagsRequest, 'path' | 'ip' | 'prefix'>,
): FlagsRequest<Request> {
  const url = new URL(request.url);
  const headers = Object.fromEntries(request.headers);
  return {
    method: request.method,
    path,
    rawQuery: url.search.slice(1),
    originalUrl: `${url.pathname}${url.search}`,
    headers: { host: url.host, ...headers },
    host: headers.host ?? url.host,
    // Some servers attach a stream to every request. A content length of 0 marks an empty one.
    hasBody: request.body !== null && headers['content-length'] !== '0',
    ip,
    ...(prefix && { prefix }),
    signal: request.signal,
    native: request,
    async readBody(limit, meter) {
      if (request.bodyUsed) throw new TypeError('The body was read before the handler got the request. Pass a clone.');
      if (request.body === null) return undefined;
      return readStream(Readable.fromWeb(request.body as NodeReadableStream), headers, { limit, meter });
    },
  };
}

function toResponse({ status, headers, body, stream }: FlagsReply, onError: (error: unknown) => void): Response {
  const all = { ...Object.fromEntries(DEFAULT_HEADERS), ...headers };
  if (stream) return new Response(toReadableStream(stream, onError), { status, headers: all });
  return new Response(body ?? null, { status, headers: all });
}

/** The buffered bytes at which writers must wait for `drain`. */
const HIGH_WATER_MARK = 64 * 1024;

/** Adapts a Node-style writer to a Fetch API stream. Slow readers cause backpressure; a canceled read closes the sink. */
function toReadableStream(
  stream: NonNullable<FlagsReply['stream']>,
  onError: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  const sink = new PassThrough({
    highWaterMark: HIGH_WATER_MARK,
    destroy(error, callback) {
      callback(error ?? (this.writableFinished ? null : new Error('The stream was cut off.')));
    },
  });
  // The reader receives the error.
  sink.on('error', () => undefined);
  stream(sink).catch(onError);
  const chunks: AsyncIterator<Uint8Array> = sink[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: () => void sink.destroy(),
    },
    { highWaterMark: 0 },
  );
}
