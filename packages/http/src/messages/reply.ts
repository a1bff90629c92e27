import { hash } from 'node:crypto';
import type { FlagDetail } from '@flags/core';
import type { Awaitable } from '@flags/core/types';
import { type StartedText, slicesOf } from './json.js';

/*
 * Replies as the API returns them, whatever the framework: headers, entity tags, and slices of long texts.
 */

/** The destination of a stream. Node's `ServerResponse` implements it. */
export interface ReplySink {
  /** Whether the client has disconnected, or the stream has ended. */
  readonly destroyed: boolean;
  /** Returns false when the client is slow. Wait for `drain` before the next write. */
  write(chunk: string | Uint8Array): boolean;
  end(): unknown;
  /** Breaks the connection, so that the client cannot mistake a truncated body for a complete one. */
  destroy(): unknown;
  on(event: 'drain' | 'close' | 'error', listener: () => void): unknown;
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

export const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

export function jsonReply(status: number, body: unknown, headers: FlagsReply['headers'] = {}): FlagsReply {
  return textReply({ status, headers, body: JSON.stringify(body) });
}

/** Returns a reply of text: JSON, unless the headers name another type. Long text is written in slices. */
export function textReply({
  status,
  headers,
  body,
}: Pick<FlagsReply, 'status' | 'headers'> & { readonly body: string | Uint8Array | StartedText }): FlagsReply {
  const head = { status, headers: { ...JSON_TYPE, ...headers } };
  if (typeof body === 'string' || body instanceof Uint8Array) return { ...head, body };
  return {
    ...head,
    stream: (sink) => writeSlices(sink, body),
    discard: async () => void (await body.rest.return()),
  };
}

/** In characters. A longer body is written in slices: a slow client would keep all of it in memory. */
const LONG_BODY = 128 * 1024;

/** Writes a long text in slices, with backpressure, so that its request can keep its place meanwhile. */
export function inSlices(reply: FlagsReply): FlagsReply {
  const { body, ...head } = reply;
  if (typeof body !== 'string' || body.length <= LONG_BODY) return reply;
  const headers = { ...head.headers, 'content-length': `${Buffer.byteLength(body)}` };
  return textReply({ ...head, headers, body: { first: [], rest: slicesOf([body]) } });
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
  readonly request: { readonly method: string; readonly signal?: AbortSignal | undefined };
  /** Headers that every reply to this request has. */
  readonly headers: Readonly<Record<string, string>>;
  /** Handles the error of a stream. The host receives errors that it throws. */
  readonly onLateError: (error: unknown) => void;
}

/** Completes a reply with the headers of every reply. A stream ends with its client. */
export function toFlagsReply(reply: FlagsReply, { request, headers: shared, onLateError }: ReplyContext): FlagsReply {
  const { status, body, stream, discard = async () => undefined } = reply;
  const { method } = request;
  const headers = mergeHeaders(shared, reply.headers);
  if (stream) {
    return {
      status,
      headers,
      async stream(sink) {
        // Read only for streams: the first read of `signal` creates it.
        const { signal } = request;
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

/**
 * Writes a long body after the head, with backpressure: generates a slice after the client has taken the previous one.
 * Stops when the client disconnects. An error destroys the connection, so that the client cannot mistake a truncated
 * body for a complete one.
 */
async function writeSlices(sink: ReplySink, { first, rest }: StartedText): Promise<void> {
  const write = createSliceWriter(sink);
  try {
    for (const slice of first) if (!(await write(slice))) return;
    for await (const slice of rest) if (!(await write(slice))) return;
    sink.end();
  } catch (error) {
    sink.destroy();
    throw error;
  } finally {
    await rest.return();
  }
}

/** Creates a function that writes one slice. It returns true if the client takes it at once, false if it has left. */
export function createSliceWriter(sink: ReplySink): (slice: string | Uint8Array) => Awaitable<boolean> {
  let proceed: () => void = () => undefined;
  // Each response gets one listener: compression middleware replaces `on`, but not `off`.
  sink.on('drain', () => proceed());
  sink.on('close', () => proceed());
  // A failed write also closes the connection.
  sink.on('error', () => undefined);

  return (slice) => {
    if (sink.destroyed) return false;
    if (sink.write(slice)) return true;
    return new Promise((resolve) => {
      proceed = () => resolve(!sink.destroyed);
    });
  };
}

/** `*`, or the opaque values of the tags; an empty list when the header is malformed. */
type TagCondition = '*' | readonly string[];

/**
 * Returns the tag of a body: `"<hash>"`, or `"<revision>-<hash>"` with a revision. {@link revisionsIn} extracts the
 * revision.
 */
export function entityTag(content: string | Uint8Array, revision: number | undefined): string {
  return toTag(hash('sha256', content, 'hex'), revision);
}

type TaggedFlag = Pick<FlagDetail, 'revision' | 'lastSeenAt' | 'children'> & {
  readonly environments: readonly { readonly name: string }[];
};

/**
 * Returns the tag of a flag: its revision, and a hash of the data that the flag shows beside its document. Add the data
 * that the body of a flag takes from elsewhere.
 */
export function flagTag({ revision, lastSeenAt, children, environments }: TaggedFlag): string {
  return entityTag(JSON.stringify([lastSeenAt, children, environments.map(({ name }) => name)]), revision);
}

/** Returns the tag of a body with this hash. */
export function toTag(hexadecimal: string, revision: number | undefined): string {
  const digest = hexadecimal.slice(0, 32);
  return revision === undefined ? `"${digest}"` : `"${revision}-${digest}"`;
}

/** Parses `If-Match` or `If-None-Match`. Ignores weak marks, because proxies weaken tags when they compress. */
export function parseTagCondition(header: string): TagCondition {
  if (header.trim() === '*') return '*';
  const tags: string[] = [];
  const element = /[\s,]*(?:W\/)?"([^"]*)"\s*(?:,[\s,]*|$)/y;
  while (element.lastIndex < header.length) {
    const match = element.exec(header);
    if (!match) return [];
    tags.push(match[1] ?? '');
  }
  return tags;
}

/** Returns whether `If-None-Match` contains this tag. */
export function namesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  const condition = parseTagCondition(header);
  return condition === '*' || condition.some((opaque) => `"${opaque}"` === tag);
}

/**
 * Returns the revisions in `If-Match`, or undefined when every revision matches. A tag without a revision matches none.
 */
export function revisionsIn(header: string): readonly number[] | undefined {
  const condition = parseTagCondition(header);
  if (condition === '*') return undefined;
  return condition.flatMap((opaque) => {
    const revision = /^(\d{1,15})(?:-|$)/.exec(opaque)?.[1];
    return revision === undefined ? [] : [Number(revision)];
  });
}
