import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, type ZlibOptions } from 'node:zlib';
import type { FlagsError } from '@flags/core';
import { withoutMapping } from '@flags/core/integration/http';
import { nextTurn, pause } from '@flags/core/integration/shared';
import type { Awaitable } from '@flags/core/types';
import { ROUTER_LIMITS } from '../limits.js';
import { HttpError, invalidInput, overloaded } from './errors.js';

/*
 * Requests as the API sees them, whatever the framework: headers, addresses, and bodies within their limits.
 */

/** A request, independent of any framework. Adapters create it from the framework's request. */
export interface FlagsRequest<Native = unknown> {
  readonly method: string;
  /** The path below the mount, percent-encoded and without the query. */
  readonly path: string;
  /** The query without the question mark; empty when absent. */
  readonly rawQuery: string;
  /** The path and query as the client sent them. Links to further pages use it. */
  readonly originalUrl: string;
  /** Returns the path that a proxy in front has removed, such as `/shop`, if the host trusts the proxy. */
  prefix?(): string | undefined;
  /** Headers with lower-case names. */
  readonly headers: IncomingHttpHeaders;
  /** The `Host` header. */
  readonly host: string | undefined;
  /** Whether the client sent a body. */
  readonly hasBody: boolean;
  /** Returns the client's address according to the host's proxy settings. */
  ip(): string | undefined;
  /**
   * Resolves to the body as text or bytes, or to the value of the host's own parser; undefined without a body.
   *
   * @param limit The maximum size in bytes, after decompression.
   * @param meter Bounds the memory of long bodies that arrive together. Ignore it if the host has parsed the body.
   */
  readBody(limit: number, meter?: BodyMeter): Promise<unknown>;
  /**
   * Aborts when the client disconnects. Without it, work for a disconnected client continues, and the sink of a stream must
   * close by itself.
   */
  readonly signal?: AbortSignal | undefined;
  /** Returns whether the server still accepts connections. A stream of a stopped server ends at its next heartbeat. */
  readonly isListening?: (() => boolean) | undefined;
  /** Called once when a route matches, before authentication. Parameters are decoded. */
  readonly onMatch?: ((route: string, params: Record<string, string>) => void) | undefined;
  /** The framework's own request. Host functions, such as `auth`, receive it. */
  readonly native: Native;
}

/** Returns the client's address. A server that listens on IPv6 gets IPv4 clients as `::ffff:192.0.2.1`. */
export function addressOf(request: Pick<FlagsRequest, 'ip'>): string | undefined {
  const address: unknown = request.ip();
  return typeof address === 'string' ? withoutMapping(address) : undefined;
}

/** Bounds the memory of long bodies that arrive together. */
export interface BodyMeter {
  /**
   * Resolves when there is room for a body over 64 KiB. Until then, do not read more of it. Repeated calls do nothing.
   *
   * @param size The bytes to reserve.
   * @param cutOff Disconnects the client, because it sends less than 64 KiB in 5 seconds while others wait.
   */
  admit(size: number, cutOff: () => void): Promise<void>;
  /** Call it for the bytes that have arrived since the last call. */
  receive(bytes: number): void;
  /** Call it when the whole body has arrived. */
  end(): void;
}

/** Returns the URL below the mount: path and query. */
export function urlOf({ path, rawQuery }: Pick<FlagsRequest, 'path' | 'rawQuery'>): string {
  return rawQuery === '' ? path : `${path}?${rawQuery}`;
}

const HIDDEN = '[hidden]';

/** Whether logs show the values of a query parameter: those that are only names, times and numbers. */
const QUERY_PARAMETERS = {
  after: 'shown',
  application: 'hidden',
  appName: 'hidden',
  archived: 'shown',
  asOf: 'hidden',
  createdBy: 'hidden',
  currentTime: 'hidden',
  days: 'hidden',
  enabledIn: 'hidden',
  environment: 'shown',
  feature: 'hidden',
  flag: 'hidden',
  flagConfigEtag: 'hidden',
  format: 'hidden',
  from: 'shown',
  hours: 'hidden',
  hoursBack: 'hidden',
  key: 'hidden',
  label: 'hidden',
  limit: 'shown',
  namePrefix: 'shown',
  offset: 'shown',
  owner: 'hidden',
  project: 'shown',
  properties: 'hidden',
  query: 'hidden',
  remoteAddress: 'hidden',
  rollback: 'hidden',
  sessionId: 'hidden',
  sort: 'hidden',
  stale: 'hidden',
  state: 'hidden',
  strategyName: 'shown',
  tag: 'hidden',
  to: 'shown',
  type: 'shown',
  userId: 'hidden',
} as const satisfies Readonly<Record<string, 'shown' | 'hidden'>>;

/** The name of a query parameter that the API documents. */
export type QueryParameterName = keyof typeof QUERY_PARAMETERS;

function isShown(name: string): boolean {
  return Object.hasOwn(QUERY_PARAMETERS, name) && QUERY_PARAMETERS[name as QueryParameterName] === 'shown';
}

/**
 * Returns a URL without secrets, for logs.
 *
 * `DELETE /api/admin/api-tokens/:token` may name a token by its secret. Therefore the function hides everything after
 * `api-tokens/`, and every path segment with 40 consecutive hexadecimal digits. It also hides query values, except the
 * documented list filters.
 *
 * @param url A URL or a request target.
 * @returns The URL with `[hidden]` in place of secrets.
 * @example
 * logger.info({ method: request.method, url: redactUrl(request.originalUrl) });
 */
export function redactUrl(url: string): string {
  const [path = '', ...query] = url.split('?');
  const redactedPath = redactSecrets(path.replace(/(\/api(?:-|%2d)tokens\/).+/i, `$1${HIDDEN}`));
  return query.length === 0
    ? redactedPath
    : `${redactedPath}?${query.join('?').split('&').map(redactParameter).join('&')}`;
}

function redactParameter(parameter: string): string {
  const equalsIndex = parameter.indexOf('=');
  if (equalsIndex === -1) return isShown(parameter) ? parameter : redactLong(parameter);
  const name = parameter.slice(0, equalsIndex);
  if (isShown(name.replace(/(?:\[\]|%5b%5d)$/i, ''))) return redactSecrets(parameter);
  return `${redactLong(name)}=${HIDDEN}`;
}

/** No documented parameter name is this long. A long name may be a misplaced secret. */
function redactLong(name: string): string {
  return name.length > 30 ? HIDDEN : name;
}

function redactSecrets(text: string): string {
  const parts = text.split(/([/&=?])/);
  return parts.map((part) => (/[0-9a-f]{40}/i.test(part) ? HIDDEN : part)).join('');
}

/** Whether a `Content-Type` header names JSON. */
export function isJsonType(header: string | undefined): boolean {
  return /^(?:(?:application|text)\/|[^/\s]+\/[^/\s]+\+)json$/.test(mediaType(header));
}

function mediaType(header = ''): string {
  return header.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** Types a request body without validation. Only for input that the operation validates. */
export function unchecked<T>(input: unknown): T {
  return input as T;
}

/** Returns the first value of a header. */
export function headerOf({ headers }: FlagsRequest, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** A body up to this size, in bytes, is read and handled without a place. */
export const SHORT_BODY = 64 * 1024;

/** Whether the headers announce a short body. One that is sent in chunks or compressed may be long. */
export function isShortBody({ headers }: Pick<FlagsRequest, 'headers'>): boolean {
  if (headers['transfer-encoding'] !== undefined || headers['content-encoding'] !== undefined) return false;
  return Number(headers['content-length'] ?? Number.NaN) <= SHORT_BODY;
}

const QUOTE = 34;
const COLON = 58;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** Returns the limit that a JSON text exceeds, without parsing it. The parser reports invalid JSON. */
export function findExcess(text: string): 'depth' | 'structure' | undefined {
  let depth = 0;
  let structure = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === COLON) structure++;
    else if (code === CLOSE_BRACKET || code === CLOSE_BRACE) depth--;
    else if (code === OPEN_BRACKET || code === OPEN_BRACE) {
      structure++;
      depth++;
      if (depth > ROUTER_LIMITS.depth) return 'depth';
    }
    if (structure > ROUTER_LIMITS.structure) return 'structure';
  }
  return undefined;
}

/** Returns the index of the closing quote of the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === BACKSLASH) before--;
    const isEscaped = (end - before) % 2 === 0;
    if (!isEscaped) return end;
  }
  return text.length;
}

/** How the body of one request is read. */
export interface BodyReadOptions {
  /** A lower limit than that of the router, in bytes. */
  readonly most?: number | undefined;
  readonly meter?: BodyMeter | undefined;
  /** Called with the length of a body that the host has not parsed. */
  readonly beforeParsing?: (length: number) => Awaitable<void>;
}

export type BodyReader = (request: FlagsRequest, options?: BodyReadOptions) => Promise<unknown>;

/** Creates a function that reads the JSON body of a request. It resolves to undefined when the request has no body. */
export function createBodyReader(bodyLimit: number): BodyReader {
  return async (request, { most = bodyLimit, meter, beforeParsing } = {}) => {
    const limit = Math.min(bodyLimit, most);
    if (request.hasBody) {
      assertSize(Number(request.headers['content-length'] ?? 0), limit);
      assertContentType(request.headers['content-type']);
    }
    const body = await request.readBody(limit, meter);
    // Text and bytes get their depth check before the parser runs.
    if (typeof body === 'string' || body instanceof Uint8Array) {
      await beforeParsing?.(body.length);
      return parseJson(body, limit);
    }
    if (request.hasBody && body === undefined) throw alreadyRead();
    if (isDeeperThan(ROUTER_LIMITS.depth, body)) throw tooDeep();
    return body;
  };
}

/** In characters. Parsing a longer text takes up to 50 ms, and so does validating it: each gets a turn of its own. */
const LONG_TEXT = 100_000;

function assertSize(bytes: number, limit: number): void {
  if (bytes > limit) throw new HttpError('payload_too_large', `The body is larger than ${limit} bytes. Send less.`);
}

function assertContentType(header: string | undefined): void {
  const type = mediaType(header);
  if (type === '' || isJsonType(header)) return;
  throw new HttpError('unsupported_media_type', `The media type ${type} is not supported. Send application/json.`);
}

function alreadyRead(): FlagsError {
  const advice = 'mount the router before it, or leave the JSON in `request.body`';
  return invalidInput([
    { message: `the body was read by another handler of the host before the router: ${advice}`, path: '' },
  ]);
}

function tooDeep(): HttpError {
  return new HttpError(
    'invalid_json',
    `The body is nested deeper than ${ROUTER_LIMITS.depth} levels. Reduce its nesting.`,
  );
}

async function parseJson(raw: string | Uint8Array, limit: number): Promise<unknown> {
  assertSize(typeof raw === 'string' ? Buffer.byteLength(raw) : raw.byteLength, limit);
  const text = typeof raw === 'string' ? raw : new TextDecoder().decode(raw);
  if (text === '') return undefined;
  checkStructure(text);
  const isLong = text.length > LONG_TEXT;
  if (isLong) await nextTurn();
  try {
    const body: unknown = JSON.parse(text);
    if (isLong) await nextTurn();
    return body;
  } catch (error) {
    throw new HttpError('invalid_json', `The body is not JSON: ${error instanceof Error ? error.message : error}.`);
  }
}

/** Runs before the parser, because parsing alone could exhaust the memory. */
function checkStructure(text: string): void {
  const excess = findExcess(text);
  if (excess === 'depth') throw tooDeep();
  if (excess === undefined) return;
  const message = `The body has more than ${ROUTER_LIMITS.structure} arrays, objects and members. Send less.`;
  throw new HttpError('payload_too_large', message);
}

function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeperThan(levels - 1, member));
}

type Decompress = (packed: Uint8Array, options: ZlibOptions) => Promise<Buffer>;

const DECOMPRESSORS: ReadonlyMap<string, Decompress> = new Map<string, Decompress>([
  ['gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
]);

/**
 * Reads a body as text, decompressed and decoded.
 *
 * After a refusal, discards the rest of the body, so that the client receives the reply.
 *
 * @throws HttpError `payload_too_large`, `unsupported_media_type`, `invalid_json`, `overloaded`
 */
export async function readStream(
  source: Readable,
  headers: IncomingHttpHeaders,
  options: StreamReadOptions,
): Promise<string> {
  try {
    if (source.destroyed) throw endedEarly();
    const decoder = decoderFor(headers['content-type']);
    const decompress = decompressorFor(headers['content-encoding']);
    const announced = Number(headers['content-length'] ?? 0);
    // A compressed body may be as long as the longest one: its length is known after decompression.
    if (decompress || announced > SHORT_BODY)
      await admit(source, { ...options, size: decompress ? Math.max(MAX_PACKED, options.limit) : announced });
    const received = await collect(source, options);
    options.meter?.end();
    const bytes = decompress ? await unpack(received, decompress, options.limit) : received;
    if (bytes.byteLength > SHORT_BODY) await pause();
    return decoder.decode(bytes);
  } catch (error) {
    await drain(source);
    throw error;
  }
}

export interface StreamReadOptions {
  /** The maximum size in bytes, after decompression. */
  readonly limit: number;
  readonly meter: BodyMeter | undefined;
}

/** The bytes reserved for a compressed body: its window and its buffered content. */
const MAX_PACKED = 1024 * 1024;

/** Waits until there is room for a long body. Nothing is read meanwhile. */
async function admit(source: Readable, { meter, size }: StreamReadOptions & { readonly size: number }): Promise<void> {
  await meter?.admit(size, () => source.destroy(tooSlow()));
}

/** Refuses a body that arrives too slowly while other requests wait for its place. */
function tooSlow(): HttpError {
  return overloaded('The body arrived too slowly while others waited. Nothing has changed. Send it again.');
}

async function collect(source: Readable, { limit, meter }: StreamReadOptions): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of source.iterator({ destroyOnReturn: false })) {
      length += chunk.byteLength;
      meter?.receive(chunk.byteLength);
      if (length > limit) throw tooLarge();
      chunks.push(chunk);
      if (length > SHORT_BODY) await admit(source, { limit, meter, size: limit });
    }
  } catch (error) {
    throw error instanceof HttpError ? error : endedEarly();
  }
  if (chunks.length === 1 && chunks[0]) return chunks[0];
  // Many long bodies may end in one turn.
  if (length > SHORT_BODY) await pause();
  return Buffer.concat(chunks);
}

async function unpack(packed: Uint8Array, decompress: Decompress, limit: number): Promise<Uint8Array> {
  // A refused body makes room for the next one, which would begin in the same turn.
  await pause();
  try {
    return await decompress(packed, { maxOutputLength: limit });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge();
    throw new HttpError('invalid_json', `The body cannot be read: ${error instanceof Error ? error.message : error}.`);
  }
}

function tooLarge(): HttpError {
  return new HttpError('payload_too_large', 'The body is too large. Send less.');
}

/** A client that disconnects leaves a truncated body, which must not count as complete. */
function endedEarly(): HttpError {
  return new HttpError('invalid_json', 'The body ended early. Send it again.');
}

function decompressorFor(header = 'identity'): Decompress | undefined {
  const encoding = header.toLowerCase();
  if (encoding === 'identity') return undefined;
  const decompress = DECOMPRESSORS.get(encoding);
  if (decompress) return decompress;
  throw undecodable(`unsupported content encoding "${encoding}"`);
}

function decoderFor(contentType = ''): InstanceType<typeof TextDecoder> {
  const charset = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;]+))/i.exec(contentType);
  const label = charset?.[1] ?? charset?.[2] ?? 'utf-8';
  try {
    return new TextDecoder(label);
  } catch {
    throw undecodable(`unsupported charset "${label.toUpperCase()}"`);
  }
}

function undecodable(reason: string): HttpError {
  return new HttpError('unsupported_media_type', `The body cannot be decoded: ${reason}.`);
}

/** The most that is discarded of a body that nobody reads. A client that sends more may get no reply. */
const MOST_DISCARDED = { bytes: 16 * 1024 * 1024, time: 5000 };

/**
 * Discards the rest of a body, within a bound. A server that closes a connection while its client still sends resets it,
 * and the client may lose the reply.
 */
export function drain(source: Readable): Promise<void> {
  if (source.readableEnded || source.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    let bytes = 0;
    const count = (chunk: Uint8Array) => {
      bytes += chunk.byteLength;
      if (bytes > MOST_DISCARDED.bytes) done();
    };
    const timer = setTimeout(done, MOST_DISCARDED.time);
    function done() {
      clearTimeout(timer);
      source.off('data', count);
      resolve();
    }
    source.on('end', done).on('close', done).on('error', done).on('data', count).resume();
  });
}
