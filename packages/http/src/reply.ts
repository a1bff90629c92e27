import type { Awaitable } from '@flags/core/types';
import { type StartedText, writeSlices } from './json-chunks.js';
import type { FlagsRequest, ReplySink } from './request.js';

/** A reply inside this package, without the headers that all replies share. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Writes the body after the head, in place of `body`. */
  readonly stream?: (sink: ReplySink) => Awaitable<void>;
  /** Releases the resources of a stream that is not written. */
  readonly discard?: () => Promise<void>;
}

interface ReplyContent {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

export function jsonReply({ status, headers = {}, body }: ReplyContent): Reply {
  return body === undefined ? { status, headers } : textReply({ status, headers, body: JSON.stringify(body) });
}

/** Returns a reply of JSON text. Long text is written in slices. */
export function textReply({
  status,
  headers,
  body,
}: Pick<Reply, 'status' | 'headers'> & { readonly body: string | StartedText }): Reply {
  const head = { status, headers: { ...headers, ...JSON_TYPE } };
  if (typeof body === 'string') return { ...head, body };
  return {
    ...head,
    stream: (sink) => writeSlices(sink, body),
    discard: async () => void (await body.rest.return()),
  };
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
  const { status, body, stream, discard = async () => undefined } = reply;
  const { method, signal } = request;
  const headers = mergeHeaders(shared, reply.headers);
  if (stream) {
    return {
      status,
      headers,
      async stream(sink) {
        if (signal?.aborted) sink.destroy();
        signal?.addEventListener('abort', () => sink.destroy(), { once: true });
        try {
          if (method !== 'HEAD') return await stream(sink);
          sink.end();
          await discard();
        } catch (error) {
          onLateError(error);
        }
      },
      discard,
    };
  }
  if (!HAS_NO_LENGTH.has(status)) headers['content-length'] = `${Buffer.byteLength(body ?? '')}`;
  return body === undefined || method === 'HEAD' ? { status, headers } : { status, headers, body };
}

function mergeHeaders(shared: FlagsReply['headers'], own: FlagsReply['headers']): Record<string, string> {
  const headers = { ...shared, ...own };
  if (shared.vary !== undefined && own.vary !== undefined) headers.vary = `${shared.vary}, ${own.vary}`;
  return headers;
}

/** Returns a buffer of its own for cached bytes. A pooled buffer would keep its whole 8 KiB pool in memory. */
export function ownBytes(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}
