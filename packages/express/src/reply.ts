import type { ServerResponse } from 'node:http';
import { type StartedText, writeSlices } from './chunks.js';
import { entityTag } from './entity-tag.js';

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
  readonly stream?: (response: ServerResponse) => void;
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

/**
 * For every answer, unless the host has set them: it is what it says it is, and nobody but the client may keep it, and
 * ask each time whether it still holds.
 */
const DEFAULTS = [
  ['x-content-type-options', 'nosniff'],
  ['cache-control', 'private, no-cache'],
] as const;

/** HTTP forbids 204 to tell a length, and 304 any but the document's. */
const HAS_NO_LENGTH: ReadonlySet<number> = new Set([204, 304]);

/**
 * Writes by Node's own means, so that no setting of the host application (`etag`, `json spaces`, …) changes it. Fails when
 * the rest of a long text cannot be made; the connection is closed then.
 */
export async function writeReply(response: ServerResponse, reply: Reply): Promise<void> {
  const { status, headers, text, bytes, slices, stream } = reply;
  // The host may have answered meanwhile, with a timeout for example.
  if (response.headersSent) return discard(reply);
  response.statusCode = status;
  for (const [name, value] of DEFAULTS) if (!response.hasHeader(name)) response.setHeader(name, value);
  for (const name of Object.keys(headers)) {
    // Middleware of the host may vary its answers too.
    if (name === 'vary') response.appendHeader(name, headers[name] ?? '');
    else response.setHeader(name, headers[name] ?? '');
  }
  if (stream) {
    response.flushHeaders();
    stream(response);
    return;
  }
  if (slices) {
    if (response.req.method !== 'HEAD') return writeSlices(response, slices);
    response.end();
    return discard(reply);
  }
  const content = bytes ?? text;
  if (!HAS_NO_LENGTH.has(status)) response.setHeader('content-length', Buffer.byteLength(content ?? ''));
  response.end(content);
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
