import type { IncomingHttpHeaders } from 'node:http';

/** A request, independent of any framework. Adapters create it from the framework's request. */
export interface FlagsRequest<Native = unknown> {
  readonly method: string;
  /** The path below the mount, percent-encoded and without the query. */
  readonly path: string;
  /** The query without the question mark; empty when absent. */
  readonly rawQuery: string;
  /** The path and query as the client sent them. Links to further pages use it. */
  readonly originalUrl: string;
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
   */
  readBody(limit: number): Promise<unknown>;
  /** Aborts when the client disconnects. Required only if the sink of a stream does not close by itself. */
  readonly signal?: AbortSignal;
  /** Called once when a route matches, before authentication. Parameters are decoded. */
  readonly onMatch?: ((route: string, params: Record<string, string>) => void) | undefined;
  /** The framework's own request. Host functions, such as `auth`, receive it. */
  readonly native: Native;
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
