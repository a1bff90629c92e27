import { FlagsError } from '@flags/core';
import { isObject } from '@flags/core/integration/shared';

/** The version of the client specification that evaluation implements. Servers choose the form of segments by it. */
const CLIENT_SPEC = '5.2.0';
/** The response header with the number of followers between a server and its source of flags. */
const DEPTH_HEADER = 'flags-depth';
/** The longest wait that a server can ask for, in milliseconds. */
const MAX_RETRY_AFTER = 300_000;

/** A request to the server that is followed. */
export interface UpstreamRequest {
  /** Below the address of the server. */
  readonly path: string;
  /** Sent as JSON by `POST`. Default: a `GET`. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the own token is sent. Default: true. */
  readonly isAnonymous?: boolean;
  readonly signal: AbortSignal;
}

/** The server that is followed. */
export interface Upstream {
  readonly url: string;
  /**
   * Sends a request. The caller reads the body, or cancels it.
   *
   * @throws FlagsError `upstream_unavailable` without a response, and for a redirect
   */
  send(request: UpstreamRequest): Promise<Response>;
  /**
   * Sends a request, and returns the JSON of a response with status 200.
   *
   * @throws FlagsError `upstream_unavailable`, `unauthenticated`, `forbidden`
   */
  ask(request: UpstreamRequest): Promise<unknown>;
  /**
   * Sends a request, and reads nothing of a response with a status of 200 to 299.
   *
   * @throws FlagsError `upstream_unavailable`, `unauthenticated`, `forbidden`
   */
  tell(request: UpstreamRequest): Promise<void>;
  /** Calls the listener with the depth of the server, at every response. It may throw to refuse the response. */
  onDepth(listener: (depth: number) => void): void;
  /** Calls the listener when `ask` or `tell` learns that the server refuses the own token. */
  onRefused(listener: () => void): void;
}

/** A failed request, and how long the server asks to wait, in milliseconds. */
export class UpstreamFailure extends FlagsError {
  constructor(
    message: string,
    readonly status: number | undefined,
    readonly retryAfter = 0,
    options?: { readonly cause: unknown },
  ) {
    super(codeOf(status), message, undefined, options);
  }
}

function codeOf(status: number | undefined): 'unauthenticated' | 'forbidden' | 'upstream_unavailable' {
  if (status === 401) return 'unauthenticated';
  return status === 403 ? 'forbidden' : 'upstream_unavailable';
}

export interface UpstreamOptions {
  readonly url: string;
  readonly token: string;
  readonly application: string;
  readonly instance: string;
  readonly maxBytes: number;
}

export function createUpstream({ url, token, application, instance, maxBytes }: UpstreamOptions): Upstream {
  let notifyDepth: (depth: number) => void = () => undefined;
  let notifyRefused: () => void = () => undefined;
  const ownHeaders = {
    'user-agent': 'flags-follower',
    'unleash-appname': headerText(application),
    'unleash-instanceid': headerText(instance),
    'unleash-client-spec': CLIENT_SPEC,
  };

  let base = url;
  /**
   * SDKs of Unleash take the address with `/api`. A router may be mounted there, too, so the first success decides.
   */
  let withoutApi = url.endsWith('/api') ? url.slice(0, -'/api'.length) : undefined;

  async function send(request: UpstreamRequest): Promise<Response> {
    const other = withoutApi;
    const response = await sendTo(base, request);
    if (response.ok) withoutApi = undefined;
    if (other === undefined || ![401, 403, 404].includes(response.status)) return response;
    const second = await sendTo(other, request);
    if (second.ok) [base, withoutApi] = [other, undefined];
    // A response other than 404 says more about the cause.
    const [better, worse] = second.status === 404 ? [response, second] : [second, response];
    await discard(worse);
    return better;
  }

  async function sendTo(
    address: string,
    { path, body, headers, isAnonymous, signal }: UpstreamRequest,
  ): Promise<Response> {
    const response = await fetchOrFail(`${address}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...ownHeaders,
        ...(!isAnonymous && { authorization: token }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      // A redirect could send the token to another server.
      redirect: 'manual',
      signal,
    });
    try {
      if (response.status >= 300 && response.status < 400 && response.status !== 304) {
        throw new UpstreamFailure(`${url} answers with a redirect. Pass its final address as url.`, response.status);
      }
      notifyDepth(depthIn(response));
    } catch (error) {
      await discard(response);
      throw error;
    }
    return response;
  }

  function failed(response: Response, { path, isAnonymous }: UpstreamRequest): UpstreamFailure {
    if (response.status === 401 && !isAnonymous) notifyRefused();
    return failureOf(response, `${url}${path}`);
  }

  return {
    url,
    send,
    async ask(request) {
      const response = await send(request);
      if (response.status === 200) return parseJson(await readText(response, maxBytes), url);
      await discard(response);
      throw failed(response, request);
    },
    async tell(request) {
      const response = await send(request);
      await discard(response);
      if (!response.ok) throw failed(response, request);
    },
    onDepth(listener) {
      notifyDepth = listener;
    },
    onRefused(listener) {
      notifyRefused = listener;
    },
  };
}

async function fetchOrFail(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    throw unreachable(url, error);
  }
}

/** Wraps an error of the network. The cause of `fetch failed` says why. */
function unreachable(url: string, error: unknown): unknown {
  if (error instanceof UpstreamFailure) return error;
  const { cause, message } = Object(error) as { readonly cause?: unknown; readonly message?: unknown };
  const { code, message: reason } = Object(cause) as { readonly code?: unknown; readonly message?: unknown };
  const text = [message, code ?? reason].filter((part) => typeof part === 'string' && part !== '').join(': ');
  return new UpstreamFailure(`${url} cannot be reached: ${text}.`, undefined, 0, { cause: error });
}

/** Returns the failure of a response with another status than 200. */
export function failureOf({ status, headers }: Response, url: string): UpstreamFailure {
  const hint =
    status === 401 || status === 403
      ? 'Pass the secret of a client token that is valid there.'
      : 'Check that url is where its /api/client begins.';
  const isTemporary = status === 429 || status >= 500;
  return new UpstreamFailure(
    isTemporary ? `${url} answers ${status}.` : `${url} answers ${status}. ${hint}`,
    status,
    retryAfterIn(headers.get('retry-after')),
  );
}

/** Ends a response whose body nobody reads, so that its connection is free again. */
export async function discard(response: Response): Promise<void> {
  await response.body?.cancel().catch(() => undefined);
}

/** Returns the milliseconds of a `Retry-After` header: seconds, or a date. */
function retryAfterIn(header: string | null): number {
  if (header === null) return 0;
  const wait = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(wait) ? 0 : Math.min(MAX_RETRY_AFTER, Math.max(0, wait));
}

/** A server that sends no depth is not a follower. */
function depthIn({ headers }: Response): number {
  const depth = Number(headers.get(DEPTH_HEADER) ?? 0);
  return Number.isInteger(depth) && depth >= 0 ? depth : 0;
}

/**
 * Reads a body of at most `maxBytes` bytes, decompressed.
 *
 * @throws FlagsError `upstream_unavailable`
 */
export async function readText(response: Response, maxBytes: number, onBytes?: () => void): Promise<string> {
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let size = 0;
  for await (const chunk of chunksOf(response)) {
    onBytes?.();
    size += chunk.length;
    if (size > maxBytes) throw tooLong(response.url, maxBytes);
    parts.push(decoder.decode(chunk, { stream: true }));
  }
  parts.push(decoder.decode());
  return parts.join('');
}

export function tooLong(url: string, maxBytes: number): UpstreamFailure {
  return new UpstreamFailure(`${url} sends more than ${maxBytes} bytes, which the option maxBytes refuses.`, undefined);
}

/** Yields the bytes of a body. Cancels the body if the consumer stops. */
export async function* chunksOf({ body, url }: Response): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  const reader = body.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } catch (error) {
    throw unreachable(url, error);
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/**
 * Parses a document, which must be an object.
 *
 * @throws FlagsError `upstream_unavailable`
 */
export function parseJson(text: string, url: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UpstreamFailure(`${url} sends text that is not JSON.`, undefined, 0, { cause: error });
  }
  if (!isObject(value)) throw new UpstreamFailure(`${url} sends JSON that is not an object.`, undefined);
  return value;
}

/** Header values are Latin-1 without control characters. */
function headerText(text: string): string {
  return text.replace(/[^ -~]/g, '_');
}
