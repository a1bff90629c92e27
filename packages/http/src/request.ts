import type { IncomingHttpHeaders } from 'node:http';

/** A request, independent of any framework. An adapter makes it from the request of its framework. */
export interface FlagsRequest<Native = unknown> {
  readonly method: string;
  /** The path below the place where the API is mounted, without the query, with its escapes. */
  readonly path: string;
  /** Without the question mark; empty when there is none. */
  readonly rawQuery: string;
  /** The path and query as the client sent them. Links to further pages are made from it. */
  readonly originalUrl: string;
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders;
  /** The header `Host`. */
  readonly host: string | undefined;
  /** Whether the client sent a body. */
  readonly hasBody: boolean;
  /** The client's address, as the host's proxy settings show it. */
  ip(): string | undefined;
  /**
   * Resolves to the body as text or bytes, or to the value that the host's own parser left; undefined when there is none.
   *
   * @param limit bytes after decompression
   */
  readBody(limit: number): Promise<unknown>;
  /** Aborted when the client leaves. Needed only where the sink of a stream does not close by itself. */
  readonly signal?: AbortSignal;
  /** Called once when a route matches, before authentication. Parameters are decoded. */
  onMatch?(route: string, params: Record<string, string>): void;
  /** The framework's own request. The host's functions, such as `auth`, get it. */
  readonly native: Native;
}

/** Where a stream is written. A response of Node is one. */
export interface ReplySink {
  /** Whether the client has left, or the stream has ended. */
  readonly destroyed: boolean;
  /** Returns false when the client is slow: `drain` tells when it is ready for more. */
  write(chunk: string | Uint8Array): boolean;
  end(): unknown;
  /** Breaks the connection off, so that no client takes the part for the whole. */
  destroy(): unknown;
  on(event: 'drain' | 'close' | 'error', listener: () => void): unknown;
}

/** The URL below the mount: path and query. */
export function urlOf({ path, rawQuery }: Pick<FlagsRequest, 'path' | 'rawQuery'>): string {
  return rawQuery === '' ? path : `${path}?${rawQuery}`;
}
