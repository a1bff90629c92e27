import { createHash } from 'node:crypto';
import { nextTurn } from '@flags/core/integration/shared';
import type { Awaitable } from '@flags/core/types';
import { collectPieces, jsonOf, SLICE_LENGTH, slicesOf } from '../messages/json.js';
import { entityTag, type FlagsReply, namesTag, ownBytes, textReply, toTag } from '../messages/reply.js';
import type { FlagsRequest } from '../messages/request.js';
import type { Admission, Passage } from './admission.js';
import { linkToNext } from './query.js';
import type { Route, RouteResult, SharedDocument } from './route.js';

/*
 * Converts the results of handlers to replies. Documents for SDKs are encoded once, and shared by the clients that ask for them.
 */

/**
 * The maximum length of a buffered reply, in characters. Buffered replies have a content length and a hash of their content
 * as their tag. Longer replies are written in pieces while their client reads, and have no tag.
 */
const BUFFERED_LENGTH = 1024 * 1024;

interface Answered {
  readonly request: FlagsRequest;
  readonly route: Route;
  readonly passage: Passage | undefined;
  readonly encodeDocument: EncodeDocument;
}

/** Converts the result of a handler to a reply. */
export async function toReply(
  result: RouteResult,
  { request, route, passage, encodeDocument }: Answered,
): Promise<FlagsReply> {
  const { stream, document, file, revision, next } = result;
  if (stream) return { status: 200, headers: STREAM_HEADERS, stream };
  const { status, method, form = {}, long } = route;
  const headers: Record<string, string> = {
    ...(form.isSecret && { 'cache-control': 'no-store' }),
    ...(form.vary && { vary: form.vary }),
    ...(next && { link: linkToNext(request.originalUrl, next) }),
    ...(result.etag && { etag: result.etag }),
  };
  if (document) {
    const { etag, body, read } = await encodeDocument(document);
    return textReply({ status, headers: { ...headers, etag }, body: body ?? { first: [], rest: read() } });
  }
  if (file) {
    const body = await collectPieces(file.text, BUFFERED_LENGTH);
    const saved = {
      'content-type': `${file.media}; charset=utf-8`,
      'content-disposition': `attachment; filename="${file.name}"`,
    };
    return textReply({ status, headers: { ...headers, ...saved }, body });
  }
  if (result.body === undefined) return { status, headers };
  const json = jsonOf(result.body);
  const enter = long?.kind === 'evaluation' ? async () => passage?.enter('evaluation') : undefined;
  const body = typeof json === 'string' ? json : await collectPieces(json, BUFFERED_LENGTH, enter);
  const isTagged = method === 'GET' || form.isConditional || revision !== undefined;
  if (isTagged && result.etag === undefined && typeof body === 'string') {
    headers.etag = entityTag(next ? `${body}${JSON.stringify(next)}` : body, revision);
  }
  return textReply({ status, headers, body });
}

/** Returns 304 without a body when `If-None-Match` names the tag of the reply. */
export function toConditionalReply(
  { headers: sent }: FlagsRequest,
  { method, form }: Route,
  reply: FlagsReply,
): Awaitable<FlagsReply> {
  const { etag, link, vary } = reply.headers;
  const isConditional = method === 'GET' || form?.isConditional;
  if (reply.status !== 200 || !isConditional || etag === undefined || !namesTag(sent['if-none-match'], etag))
    return reply;
  const headers = { etag, ...(link !== undefined && { link }), ...(vary !== undefined && { vary }) };
  const notModified = { status: 304, headers };
  return reply.discard ? reply.discard().then(() => notModified) : notModified;
}

/** The headers of an event stream ask proxies not to buffer events. */
const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'private, no-cache, no-transform',
  'x-accel-buffering': 'no',
};

/** The bytes of all documents that are kept or read. A document that does not fit keeps its tag only. */
const MAX_BYTES = 32 * 1024 * 1024;

/** A longer document is written slice by slice, because many clients may read it slowly. */
const BUFFERED_BYTES = 1024 * 1024;

/** The estimated bytes of an entry beside its document and key. */
const ENTRY_OVERHEAD = 1024;

/** An encoded document. */
interface Encoded {
  readonly etag: string;
  /** Absent if it is long. */
  readonly body: Buffer | undefined;
  /** Yields the slices of a long document. Its bytes count until the client has taken them. */
  read(): AsyncGenerator<string | Uint8Array, void>;
}

interface Entry {
  encoding: Promise<Encoded>;
  bytes: number;
  /** The number of clients that read it, and one more during the encoding. */
  readers: number;
}

/** Returns an encoded document, which clients share. */
export type EncodeDocument = (document: SharedDocument) => Promise<Encoded>;

/** Encodes each document once, and hashes it in the same pass. Only one that does not fit is generated for each client. */
export function createDocumentEncoder(admission: Admission, maxBytes = MAX_BYTES): EncodeDocument {
  /** The least recently used one first. */
  const kept = new Map<string, Entry>();
  let total = 0;

  function makeRoom(bytes: number): boolean {
    for (const [key, entry] of kept) {
      if (total + bytes <= maxBytes) return true;
      if (entry.readers === 0) drop(key, entry);
    }
    return total + bytes <= maxBytes;
  }

  function add(entry: Entry, bytes: number): void {
    total += bytes;
    entry.bytes += bytes;
  }

  function drop(key: string, entry: Entry): void {
    if (kept.get(key) === entry) kept.delete(key);
    add(entry, -entry.bytes);
  }

  async function* readSlices(entry: Entry, slices: readonly Buffer[]): AsyncGenerator<Buffer, void> {
    entry.readers++;
    try {
      for (const slice of slices) {
        // A thousand clients may have waited for the same document. Writing it to all of them would be one long turn.
        await nextTurn();
        yield slice;
      }
    } finally {
      entry.readers--;
    }
  }

  async function encode(entry: Entry, { key, generate }: SharedDocument): Promise<Encoded> {
    let passage: Passage | undefined;
    const digest = createHash('sha256');
    let slices: Buffer[] | undefined = [];
    let length = 0;
    try {
      for await (const text of slicesOf(generate())) {
        digest.update(text);
        if (slices && makeRoom(Buffer.byteLength(text))) {
          const slice = ownBytes(text);
          slices.push(slice);
          length += slice.length;
          add(entry, slice.length);
        } else if (slices) {
          slices = undefined;
          add(entry, -length);
        }
        if (text.length === SLICE_LENGTH) {
          passage ??= admission({ signal: undefined }, key);
          await passage.enter('document');
        }
      }
      const etag = toTag(digest.digest('hex'), undefined);
      if (slices === undefined) return { etag, body: undefined, read: () => slicesOf(generate()) };
      const [first, ...others] = slices;
      const whole = slices;
      const body = others.length === 0 ? first : length > BUFFERED_BYTES ? undefined : Buffer.concat(slices);
      return { etag, body, read: () => readSlices(entry, whole) };
    } catch (error) {
      drop(key, entry);
      throw error;
    } finally {
      passage?.leave();
      entry.readers--;
    }
  }

  return (document) => {
    const { key } = document;
    const known = kept.get(key);
    if (known) {
      kept.delete(key);
      kept.set(key, known);
      return known.encoding;
    }
    const entry = { bytes: 0, readers: 1 } as Entry;
    makeRoom(ENTRY_OVERHEAD + 2 * key.length);
    add(entry, ENTRY_OVERHEAD + 2 * key.length);
    kept.set(key, entry);
    entry.encoding = encode(entry, document);
    return entry.encoding;
  };
}
