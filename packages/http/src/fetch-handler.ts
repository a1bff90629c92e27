import { EventEmitter } from 'node:events';
import { Readable } from 'node:stream';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import type { FlagsApi } from './create-api.js';
import { createPathBelow } from './node-handler.js';
import { readStream } from './read-stream.js';
import { DEFAULT_HEADERS, type FlagsReply, JSON_TYPE, NOT_FOUND } from './reply.js';
import type { FlagsRequest, ReplySink } from './request.js';

export interface FetchHandlerOptions {
  /** Where the API is mounted, such as `/internal/flags`. */
  readonly basePath?: string;
  /** The client's address, which a `Request` does not have. SDK registrations and contexts have no address when absent. */
  readonly ip?: (request: Request) => string | undefined;
  /** Gets errors of a stream whose head is out already. Written to standard error when absent. */
  readonly onUnexpectedError?: (error: unknown) => void;
}

/** Handles a `Request` of the Fetch API. */
export type FetchHandler = (request: Request) => Promise<Response>;

/**
 * Makes a handler for everything that speaks the Fetch API: Hono, Next.js route handlers, Bun, Deno. Other paths get 404.
 * Rejects with defects, and with errors of your own functions; the framework handles them.
 *
 * @example
 * // app/flags/[...path]/route.ts of a Next.js application
 * const handler = toFetchHandler(createFlagsApi(flags, { auth: 'token' }), { basePath: '/flags' });
 * export { handler as GET, handler as POST, handler as PUT, handler as PATCH, handler as DELETE, handler as OPTIONS };
 */
export function toFetchHandler(
  api: FlagsApi<Request>,
  { basePath = '', ip, onUnexpectedError = console.error }: FetchHandlerOptions = {},
): FetchHandler {
  const belowBase = createPathBelow(basePath);
  return async (request) => {
    const url = new URL(request.url);
    const path = belowBase(url.pathname);
    const reply =
      path !== undefined && api.isOwnPath(path)
        ? await api.handle(fromFetch(request, { url, path, ip: () => ip?.(request) }))
        : undefined;
    return reply ? toResponse(reply, onUnexpectedError) : new Response(NOT_FOUND, { status: 404, headers: JSON_TYPE });
  };
}

interface FetchMount {
  readonly url: URL;
  readonly path: string;
  readonly ip: () => string | undefined;
}

function fromFetch(request: Request, { url, path, ip }: FetchMount): FlagsRequest<Request> {
  const headers = Object.fromEntries(request.headers);
  return {
    method: request.method,
    path,
    rawQuery: url.search.slice(1),
    originalUrl: `${url.pathname}${url.search}`,
    headers: { host: url.host, ...headers },
    host: headers.host ?? url.host,
    // Some servers give every request a stream: an announced length of 0 tells that it is empty.
    hasBody: request.body !== null && headers['content-length'] !== '0',
    ip,
    signal: request.signal,
    native: request,
    async readBody(limit) {
      if (request.bodyUsed) throw new TypeError('The body was read before the handler got the request. Pass a clone.');
      if (request.body === null) return undefined;
      return readStream(Readable.fromWeb(request.body as NodeReadableStream), { headers, limit });
    },
  };
}

function toResponse({ status, headers, body, stream }: FlagsReply, onError: (error: unknown) => void): Response {
  const all = { ...Object.fromEntries(DEFAULT_HEADERS), ...headers };
  if (stream) return new Response(toReadableStream(stream, onError), { status, headers: all });
  return new Response(body ?? null, { status, headers: all });
}

/** Bytes that wait for the client, beyond which writers wait for `drain`. */
const HIGH_WATER_MARK = 64 * 1024;

/** Runs a writer of Node's kind on a stream of the Fetch API: writes wait for the reader, and a reader that leaves closes it. */
function toReadableStream(
  stream: NonNullable<FlagsReply['stream']>,
  onError: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  const events = new EventEmitter();
  const encoder = new TextEncoder();
  let isClosed = false;
  let isFull = false;

  /** Later, as Node does: whoever ends a stream may still be using it. */
  function close(): void {
    isClosed = true;
    queueMicrotask(() => events.emit('close'));
  }

  const createSink = (controller: ReadableStreamDefaultController<Uint8Array>): ReplySink => ({
    get destroyed() {
      return isClosed;
    },
    write(chunk) {
      if (isClosed) return false;
      controller.enqueue(typeof chunk === 'string' ? encoder.encode(chunk) : chunk);
      isFull = (controller.desiredSize ?? 0) <= 0;
      return !isFull;
    },
    end() {
      if (isClosed) return;
      close();
      controller.close();
    },
    destroy() {
      if (isClosed) return;
      close();
      controller.error(new Error('The stream was cut off.'));
    },
    on: (event, listener) => events.on(event, listener),
  });

  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        // Not awaited: a stream is pulled from only after it has started.
        void Promise.resolve(stream(createSink(controller))).catch(onError);
      },
      pull() {
        if (!isFull) return;
        isFull = false;
        events.emit('drain');
      },
      cancel: close,
    },
    { highWaterMark: HIGH_WATER_MARK, size: (chunk) => chunk?.byteLength ?? 0 },
  );
}
