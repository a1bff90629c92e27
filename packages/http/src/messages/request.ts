import type { IncomingHttpHeaders } from 'node:http';
import { withoutMapping } from '@flags/core/integration/http';

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

/** Returns the URL below the mount: path and query. */
export function urlOf({ path, rawQuery }: Pick<FlagsRequest, 'path' | 'rawQuery'>): string {
  return rawQuery === '' ? path : `${path}?${rawQuery}`;
}

const HIDDEN = '[hidden]';
/** The documented query parameters that hold only names, times and numbers. */
const PLAIN_PARAMETERS: ReadonlySet<string> = new Set([
  'after',
  'archived',
  'environment',
  'from',
  'limit',
  'namePrefix',
  'offset',
  'project',
  'strategyName',
  'to',
  'type',
]);

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
  if (equalsIndex === -1) return PLAIN_PARAMETERS.has(parameter) ? parameter : redactLong(parameter);
  const name = parameter.slice(0, equalsIndex);
  if (PLAIN_PARAMETERS.has(name.replace(/(?:\[\]|%5b%5d)$/i, ''))) return redactSecrets(parameter);
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

export function mediaType(header = ''): string {
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
