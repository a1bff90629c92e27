import { createHash, hash, randomUUID } from 'node:crypto';
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
  /** Writes the body after the head, in place of `text`. */
  readonly stream?: (sink: ReplySink) => void;
}

export interface ReplyContent {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

export function jsonReply({ status, headers = {}, body }: ReplyContent): Reply {
  if (body === undefined) return { status, headers };
  return { status, headers: { ...headers, ...JSON_TYPE }, text: JSON.stringify(body) };
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
  /** Handles the error of a stream. What it throws goes to the host. */
  readonly onLateError: (error: unknown) => void;
}

/** Converts a reply to its public form. */
export function toFlagsReply(reply: Reply, { request, headers: shared, onLateError }: ReplyContext): FlagsReply {
  const { status, text, bytes, slices, stream } = reply;
  const headers = mergeHeaders(shared, reply.headers);
  const isHead = request.method === 'HEAD';
  const write = slices ? (sink: ReplySink) => (isHead ? endHeadReply(sink, reply) : writeSlices(sink, slices)) : stream;
  if (write) {
    return {
      status,
      headers,
      async stream(sink) {
        const { signal } = request;
        if (signal?.aborted) sink.destroy();
        signal?.addEventListener('abort', () => sink.destroy(), { once: true });
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

/** Closes the generator of a body that nobody writes. */
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

/** Makes versions unique per process. Each process counts its versions from the start, maybe on a restored storage. */
const PROCESS_ID = randomUUID();

/** Returns the tag of a long body, by the versions of its parts in this process. */
export function versionTag(versions: Iterable<string>, revision?: number): string {
  const digest = createHash('sha256').update(PROCESS_ID);
  for (const version of versions) digest.update(`\n${version}`);
  return toTag(digest.digest('hex'), revision);
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

function toTag(hexadecimal: string, revision: number | undefined): string {
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
 * Returns the revisions in `If-Match`, or undefined when any revision will do. A tag without a revision matches none.
 */
export function revisionsIn(header: string): readonly number[] | undefined {
  const condition = parseTagCondition(header);
  if (condition === '*') return undefined;
  return condition.flatMap((opaque) => {
    const revision = /^(\d{1,15})(?:-|$)/.exec(opaque)?.[1];
    return revision === undefined ? [] : [Number(revision)];
  });
}

/** The size limits of all response caches of a router. */
interface ResponseCacheLimits {
  /** The total bytes of bodies, keys and bookkeeping. */
  readonly bytes: number;
  /** The maximum bytes of one response. Larger responses are not cached. */
  readonly entryBytes: number;
}

const CACHE_LIMITS: ResponseCacheLimits = { bytes: 16 * 1024 * 1024, entryBytes: 2 * 1024 * 1024 };

/** The estimated bytes of an entry beside its body and key: headers and map entry. */
const ENTRY_OVERHEAD = 1024;

/** A cacheable response: a body, or only the metadata of a long one. */
interface Cacheable {
  readonly bytes?: Uint8Array;
}

/** Responses by key, each valid for one data version. A newer version replaces the response. */
export interface ResponseCache<Response extends Cacheable> {
  get(key: string, version: string): Response | undefined;
  set(key: string, version: string, response: Response): void;
}

interface Entry {
  readonly version: string;
  readonly response: Cacheable;
  readonly size: number;
}

/**
 * Creates a factory for caches that share one size limit. Evicts the least recently used response across all of them.
 */
export function createResponseCaches(
  limits = CACHE_LIMITS,
): <Response extends Cacheable>(name: string) => ResponseCache<Response> {
  const entries = new Map<string, Entry>();
  let size = 0;

  function remove(key: string): void {
    size -= entries.get(key)?.size ?? 0;
    entries.delete(key);
  }

  function add(key: string, entry: Entry): void {
    entries.set(key, entry);
    size += entry.size;
  }

  return <Response extends Cacheable>(name: string): ResponseCache<Response> => ({
    get(key, version) {
      const entryKey = `${name} ${key}`;
      const entry = entries.get(entryKey);
      if (entry === undefined || entry.version !== version) return undefined;
      // Reinserts the entry, because eviction starts with the oldest one.
      entries.delete(entryKey);
      entries.set(entryKey, entry);
      return entry.response as Response;
    },

    set(key, version, response) {
      const entryKey = `${name} ${key}`;
      const entry = { version, response, size: ENTRY_OVERHEAD + 2 * entryKey.length + (response.bytes?.length ?? 0) };
      remove(entryKey);
      if (entry.size > limits.entryBytes) return;
      add(entryKey, entry);
      for (const oldest of entries.keys()) {
        if (size <= limits.bytes) break;
        remove(oldest);
      }
    },
  });
}
