import { createHash } from 'node:crypto';
import { paced } from '@flags/core/integration';
import type { Awaitable } from '@flags/core/types';
import type { FlagsRequest, ReplySink } from './request.js';

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

/** Returns a reply of JSON text. Long text is written in slices. */
export function textReply({
  status,
  headers,
  body,
}: Pick<FlagsReply, 'status' | 'headers'> & { readonly body: string | StartedText }): FlagsReply {
  const head = { status, headers: { ...headers, ...JSON_TYPE } };
  if (typeof body === 'string') return { ...head, body };
  return {
    ...head,
    stream: (sink) => writeSlices(sink, body),
    discard: async () => void (await body.rest.return()),
  };
}

/** In characters. A longer body takes space as long as the client does not read it. */
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
  readonly request: Pick<FlagsRequest, 'method' | 'signal'>;
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
        // Only here: reading it creates the signal.
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

/** JSON text that is generated while the reply is written. A piece holds at most one item of a list. */
export type Pieces = AsyncGenerator<string, void>;

/** The items of a list: all of them, or page by page. */
type Items<Item> = Iterable<Item> | AsyncIterable<readonly Item[]>;

/** The target length of a piece, in characters. One piece per item would cost more than the items. */
const PIECE_LENGTH = 8 * 1024;

/** Generates the JSON of an array. Converts each item on demand. */
export function jsonArray<Item>(items: Items<Item>, toWire: (item: Item) => unknown = (item) => item): Pieces {
  return join(items, ['[', ']'], (item) => jsonOf(toWire(item)));
}

/** Generates the JSON of an array from items that are JSON texts. */
export function jsonTexts(texts: readonly string[]): Pieces {
  return join(texts, ['[', ']'], (text) => text);
}

/** Generates the JSON of an object from name-value entries. Names may be any text. */
export function jsonMap(entries: Iterable<readonly [name: string, value: unknown]>): Pieces {
  return join(entries, ['{', '}'], ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
}

/** Returns the JSON of a value. It is generated in pieces if the value is, or has members, such as {@link jsonArray}. */
export function jsonOf(value: unknown): string | Pieces {
  if (isPieces(value)) return value;
  const hasPieces = typeof value === 'object' && value !== null && Object.values(value).some(isPieces);
  return hasPieces ? jsonObject(value) : JSON.stringify(value);
}

/** Returns the JSON of a value in pieces. */
export function piecesOf(value: unknown): Pieces {
  const json = jsonOf(value);
  return typeof json === 'string' ? join([json], ['', ''], (text) => text) : json;
}

function isPieces(value: unknown): value is Pieces {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

async function* jsonObject(members: object): Pieces {
  let separator = '{';
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined) continue;
    yield `${separator}${JSON.stringify(name)}:`;
    if (isPieces(value)) yield* value;
    else yield JSON.stringify(value);
    separator = ',';
  }
  yield '}';
}

async function* join<Item>(
  items: Items<Item>,
  [open, close]: readonly [open: string, close: string],
  toText: (item: Item) => string | Pieces,
): Pieces {
  let piece = open;
  let separator = '';
  for await (const page of Symbol.asyncIterator in items ? items : [items]) {
    for (const item of page) {
      const text = toText(item);
      piece += separator;
      separator = ',';
      if (typeof text === 'string') piece += text;
      if (typeof text === 'string' && piece.length < PIECE_LENGTH) continue;
      yield piece;
      piece = '';
      if (typeof text !== 'string') yield* text;
    }
  }
  yield piece + close;
}

/** The maximum length of a slice, in characters. */
const SLICE_LENGTH = 64 * 1024;

/** A long text with its first slices generated. Call `rest.return()` if you do not write it. */
export interface StartedText {
  readonly first: readonly string[];
  readonly rest: Pieces;
}

/** Returns the whole text up to a length, else a started text. */
export async function collectPieces(pieces: AsyncIterable<string>, longest: number): Promise<string | StartedText> {
  const first: string[] = [];
  const rest = slicesOf(pieces);
  for (let length = 0; length <= longest; ) {
    const slice = await rest.next();
    if (slice.done) return first.join('');
    first.push(slice.value);
    length += slice.value.length;
  }
  return { first, rest };
}

/**
 * Returns the SHA-256 of a text, and the text itself up to a length. Keeps nothing of a longer one.
 *
 * @param beforeRest awaited once, when the text is longer
 */
export async function hashPieces(
  pieces: AsyncIterable<string>,
  longest: number,
  beforeRest: () => Promise<void>,
): Promise<{ readonly text?: string; readonly digest: string }> {
  const digest = createHash('sha256');
  let kept: string[] | undefined = [];
  let length = 0;
  for await (const slice of slicesOf(pieces)) {
    digest.update(slice);
    length += slice.length;
    if (length <= longest) kept?.push(slice);
    else if (kept) {
      kept = undefined;
      await beforeRest();
    }
  }
  return { ...(kept && { text: kept.join('') }), digest: digest.digest('hex') };
}

/** Joins short pieces and splits long ones. */
export async function* slicesOf(pieces: AsyncIterable<string> | Iterable<string>): Pieces {
  let text = '';
  for await (const piece of paced(pieces)) {
    text += piece;
    for (; text.length > SLICE_LENGTH; text = text.slice(SLICE_LENGTH)) yield text.slice(0, SLICE_LENGTH);
  }
  if (text !== '') yield text;
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
