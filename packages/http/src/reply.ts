import { type StartedText, writeSlices } from './chunks.js';
import { entityTag } from './entity-tag.js';
import type { FlagsRequest, ReplySink } from './request.js';

/** An answer, ready to be written. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON; absent: no body. */
  readonly text?: string;
  /** Instead of text: JSON that was encoded before. */
  readonly bytes?: Uint8Array;
  /** Instead of text: JSON too long to be held, written in slices. */
  readonly slices?: StartedText;
  /** Instead of text: writes the body once the head is out. */
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

/** A reply, independent of any framework. An adapter writes it. */
export interface FlagsReply {
  readonly status: number;
  /** They replace headers of the host, but `vary` is added to the host's. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Instead of a body: writes it once the head is out. Rejects with errors that only the host can handle. */
  readonly stream?: (sink: ReplySink) => Promise<void>;
  /** Frees what a stream holds. Call it when the stream is not written. */
  readonly discard?: () => Promise<void>;
}

/** Headers of every reply, unless the host has set them: no content sniffing; private; revalidate on every use. */
export const DEFAULT_HEADERS = [
  ['x-content-type-options', 'nosniff'],
  ['cache-control', 'private, no-cache'],
] as const;

/** For adapters: the body of a 404 where no host handles other paths. */
export const NOT_FOUND = JSON.stringify({
  name: 'NotFoundError',
  code: 'not_found',
  message: 'There is nothing at this path. Look at /api/admin/openapi.json.',
  details: [],
});

/** For adapters: the body of a 500 where no host handles errors. */
export const UNEXPECTED = JSON.stringify({ name: 'InternalServerError', message: 'An unexpected error.' });

/** HTTP forbids 204 to tell a length, and 304 any but the document's. */
const HAS_NO_LENGTH: ReadonlySet<number> = new Set([204, 304]);

export interface ReplyContext {
  readonly request: Pick<FlagsRequest, 'method' | 'signal'>;
  /** Headers that every reply to this request has. */
  readonly headers: Readonly<Record<string, string>>;
  /** Called when a stream fails. What it throws goes to the host. */
  readonly onLateError: (error: unknown) => void;
}

/** Makes the public form of a reply. */
export function toFlagsReply(reply: Reply, { request, headers: shared, onLateError }: ReplyContext): FlagsReply {
  const { status, text, bytes, slices, stream } = reply;
  const headers = mergeHeaders(shared, reply.headers);
  const isHead = request.method === 'HEAD';
  const write = slices ? (sink: ReplySink) => (isHead ? endUnread(sink, reply) : writeSlices(sink, slices)) : stream;
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
  const length = HAS_NO_LENGTH.has(status) ? {} : { 'content-length': `${Buffer.byteLength(body ?? '')}` };
  return { status, headers: { ...headers, ...length }, ...(body !== undefined && !isHead && { body }) };
}

/** A reply to HEAD has the headers alone. */
async function endUnread(sink: ReplySink, reply: Reply): Promise<void> {
  sink.end();
  await discard(reply);
}

function mergeHeaders(shared: FlagsReply['headers'], own: FlagsReply['headers']): FlagsReply['headers'] {
  const vary = [shared.vary, own.vary].filter((value) => value !== undefined).join(', ');
  return { ...shared, ...own, ...(vary !== '' && { vary }) };
}

/** Ends what makes the body of a reply that is not written. */
export async function discard({ slices }: Reply): Promise<void> {
  await slices?.rest.return();
}

/** JSON ready to be sent, with its tag: made once, sent many times. */
export interface Serialized {
  readonly bytes: Buffer;
  readonly etag: string;
}

export function serialized(text: string): Serialized {
  const bytes = Buffer.from(text);
  return { bytes, etag: entityTag(bytes, undefined) };
}

/** For bytes that are kept: in Node's pool each text would keep what is around it, eight kilobytes, from being freed. */
export function ownBytes(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}
