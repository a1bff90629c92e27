import type { Awaitable } from '@flags/core';
import { entityTag } from './caching.js';
import { type StartedText, writeSlices } from './json-chunks.js';
import type { FlagsRequest, ReplySink } from './request.js';

/** A reply inside this package. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text; absent when the reply has no body. */
  readonly text?: string;
  /** Encoded JSON, in place of `text`. */
  readonly bytes?: Uint8Array;
  /** JSON too long to buffer, in place of `text`. The adapter writes it in slices. */
  readonly slices?: StartedText;
  /** Aborts when the client has taken too long for the slices. */
  readonly expiry?: AbortSignal;
  /** Writes the body after the head, in place of `text`. */
  readonly stream?: (sink: ReplySink) => Awaitable<void>;
}

export interface ReplyContent {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

export function jsonReply({ status, headers = {}, body }: ReplyContent): Reply {
  if (body === undefined) return { status, headers };
  // Not a spread: on Node 20 it gives each object a hidden class of its own.
  return { status, headers: Object.assign({}, headers, JSON_TYPE), text: JSON.stringify(body) };
}

/** A reply, independent of any framework. Adapters write it. */
export interface FlagsReply {
  readonly status: number;
  /** Headers that replace those of the host. Merge `vary` with the host's value instead. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Writes the body after the head, in place of `body`. Rejects with errors that only the host can handle. */
  readonly stream?: (sink: ReplySink) => Promise<void>;
  /** Releases the resources of a stream. Call it if you do not write the stream. */
  readonly discard?: () => Promise<void>;
}

/** Default headers, which the host can override: no content sniffing; private; revalidate on every use. */
export const DEFAULT_HEADERS = [
  ['x-content-type-options', 'nosniff'],
  ['cache-control', 'private, no-cache'],
] as const;

/** For adapters: the 404 body for servers without a handler for other paths. */
export const NOT_FOUND = JSON.stringify({
  name: 'NotFoundError',
  code: 'not_found',
  message: 'There is nothing at this path. Look at /api/admin/openapi.json.',
  details: [],
});

/** For adapters: the 500 body for servers without an error handler. */
export const UNEXPECTED = JSON.stringify({ name: 'InternalServerError', message: 'An unexpected error.' });

/** HTTP forbids a length on 204, and on 304 any length except that of the representation. */
const HAS_NO_LENGTH: ReadonlySet<number> = new Set([204, 304]);

export interface ReplyContext {
  readonly request: Pick<FlagsRequest, 'method' | 'signal'>;
  /** Headers that every reply to this request has. */
  readonly headers: Readonly<Record<string, string>>;
  /** Handles the error of a stream. The host receives errors that it throws. */
  readonly onLateError: (error: unknown) => void;
}

/** Converts a reply to its public form. */
export function toFlagsReply(reply: Reply, { request, headers: shared, onLateError }: ReplyContext): FlagsReply {
  const { status, text, bytes, slices, stream, expiry } = reply;
  const headers = mergeHeaders(shared, reply.headers);
  const isHead = request.method === 'HEAD';
  const write = slices ? (sink: ReplySink) => (isHead ? endHeadReply(sink, reply) : writeSlices(sink, slices)) : stream;
  if (write) {
    return {
      status,
      headers,
      async stream(sink) {
        for (const signal of [request.signal, expiry]) {
          if (signal?.aborted) sink.destroy();
          signal?.addEventListener('abort', () => sink.destroy(), { once: true });
        }
        try {
          await write(sink);
        } catch (error) {
          onLateError(error);
        }
      },
      discard: () => discard(reply),
    };
  }
  const body = bytes ?? text;
  if (!HAS_NO_LENGTH.has(status)) headers['content-length'] = `${Buffer.byteLength(body ?? '')}`;
  return body === undefined || isHead ? { status, headers } : { status, headers, body };
}

/** Ends the reply to a HEAD request, which has no body. */
async function endHeadReply(sink: ReplySink, reply: Reply): Promise<void> {
  sink.end();
  await discard(reply);
}

function mergeHeaders(shared: FlagsReply['headers'], own: FlagsReply['headers']): Record<string, string> {
  const headers = { ...shared, ...own };
  if (shared.vary !== undefined && own.vary !== undefined) headers.vary = `${shared.vary}, ${own.vary}`;
  return headers;
}

/** Closes the generator of a body that is not written. */
export async function discard({ slices }: Reply): Promise<void> {
  await slices?.rest.return();
}

/** Encoded JSON with its tag. Generated once, sent many times. */
export interface Serialized {
  readonly bytes: Buffer;
  readonly etag: string;
}

export function serialized(text: string): Serialized {
  const bytes = Buffer.from(text);
  return { bytes, etag: entityTag(bytes, undefined) };
}

/** Returns a buffer of its own for cached bytes. A pooled buffer would keep its whole 8 KiB pool in memory. */
export function ownBytes(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}
