import type { IncomingMessage, ServerResponse } from 'node:http';
import { brotliDecompressSync, gzipSync } from 'node:zlib';
import { assertOptions, type FlagsUiOptions } from './options.js';
import { pageHeaders, pageHtml, relativeRoot, tagOf } from './page.js';

/** Handles requests of `node:http` and of frameworks built on it. Calls `next` for paths outside the page. */
export type FlagsUiHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => void;

/** Handles a Fetch API `Request`. Resolves to undefined for paths outside the page. */
export type FlagsUiFetchHandler = (request: Request) => Promise<Response | undefined>;

/**
 * Creates the admin page as a handler for Express 4 and 5, Connect and plain `node:http`.
 *
 * Mount it at the path of the router. It serves `/ui` and everything below, redirects from the mount path to the page, and
 * passes all other requests on. Mounted at the root of your application, it does not handle `/`. Without `next`, it replies 404 for other
 * paths. Every address in the page is relative, so it works behind gateways that strip
 * a prefix. The page contains no secrets: the router decides who may read and change flags.
 *
 * @param options Every option has a default.
 * @returns The handler. Safe to call concurrently.
 * @throws TypeError when an option is invalid
 * @example
 * app.use('/internal/flags', createFlagsRouter(flags, { auth, authorize }));
 * app.use('/internal/flags', createFlagsUi()); // the page is at /internal/flags/ui
 */
export function createFlagsUi(options: FlagsUiOptions = {}): FlagsUiHandler {
  const respond = createResponder(options);
  return (request, response, next) => {
    const { method = 'GET', headers, url = '/', originalUrl = url } = request as MountedRequest;
    const answer = async () => {
      const reply = await respond({
        method,
        path: pathOf(url),
        originalPath: pathOf(originalUrl),
        ownsRoot: next === undefined || pathOf(originalUrl) !== pathOf(url),
        accept: String(headers['accept-encoding'] ?? ''),
        ifNoneMatch: headers['if-none-match'],
      });
      if (reply !== undefined) return write(response, reply);
      if (next) return next();
      write(response, NOT_FOUND);
    };
    answer().catch((error) => (next ? next(error) : response.destroy()));
  };
}

/**
 * Creates the admin page for Fetch API servers: Hono, Next.js route handlers, Bun and Deno.
 *
 * @param options Set `basePath` to the mount path.
 * @returns The handler. It resolves to undefined for requests that are not about the page: pass those to the API.
 * @throws TypeError when an option is invalid
 * @example
 * const page = createFlagsUiFetchHandler({ basePath: '/flags' });
 * const api = toFetchHandler(createFlagsApi(flags, { auth: 'token' }), { basePath: '/flags' });
 * const handler = async (request: Request) => (await page(request)) ?? api(request);
 */
export function createFlagsUiFetchHandler(options: FlagsUiOptions = {}): FlagsUiFetchHandler {
  const respond = createResponder(options);
  return async (request) => {
    const reply = await respond({
      method: request.method,
      path: new URL(request.url).pathname,
      originalPath: new URL(request.url).pathname,
      ownsRoot: false,
      accept: request.headers.get('accept-encoding') ?? '',
      ifNoneMatch: request.headers.get('if-none-match') ?? undefined,
    });
    if (reply === undefined) return undefined;
    const { status, headers, body } = reply;
    return new Response(body, { status, headers });
  };
}

/** A request below a mount path, as Express and Connect pass it on. */
interface MountedRequest extends IncomingMessage {
  readonly originalUrl?: string;
}

interface UiRequest {
  readonly method: string;
  /** The path in the URL, without the query. */
  readonly path: string;
  /** The path that the client sent. Express strips the mount path from `path`. */
  readonly originalPath: string;
  /** Whether `/` belongs to the page: it is mounted below a path, or has its own server. */
  readonly ownsRoot: boolean;
  readonly accept: string;
  readonly ifNoneMatch: string | undefined;
}

interface UiReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | null;
}

const PLAIN = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' };
const NOT_FOUND: UiReply = { status: 404, headers: { ...PLAIN, 'cache-control': 'no-store' }, body: 'Not found.\n' };
const ASSETS = '/assets/';

/** Returns the one function behind both handlers. It resolves to undefined for other paths. */
function createResponder(options: FlagsUiOptions): (request: UiRequest) => Promise<UiReply | undefined> {
  assertOptions(options);
  const mount = (options.basePath ?? '').replace(/\/$/, '');
  const base = `${mount}/ui`;
  const encoder = new AssetEncoder();
  return async ({ method, path, originalPath, ownsRoot, accept, ifNoneMatch }) => {
    const isRoot = (path === mount || path === `${mount}/`) && (mount !== '' || ownsRoot);
    if (isRoot && (method === 'GET' || method === 'HEAD')) return redirectToPage(originalPath);
    if (path !== base && !path.startsWith(`${base}/`)) return undefined;
    if (method !== 'GET' && method !== 'HEAD') {
      return { status: 405, headers: { ...PLAIN, allow: 'GET, HEAD' }, body: 'Use GET.\n' };
    }
    const { assets, names } = await import('./assets.js');
    const rest = path.slice(base.length);
    const reply = rest.startsWith(ASSETS)
      ? assetReply(rest.slice(ASSETS.length))
      : pageReply(pageHtml(options, names, relativeRoot(rest)));
    return method === 'HEAD' ? { ...reply, body: null } : reply;

    function assetReply(name: string): UiReply {
      const asset: Asset | undefined = new Map(Object.entries<Asset>(assets)).get(name);
      if (asset === undefined) return NOT_FOUND;
      const { encoding, body } = encoder.encode(name, asset, accept);
      const headers = {
        'content-type': asset.type,
        'content-length': String(body.byteLength),
        'cache-control': 'public, max-age=31536000, immutable',
        'x-content-type-options': 'nosniff',
        vary: 'Accept-Encoding',
        ...(encoding !== 'identity' && { 'content-encoding': encoding }),
      };
      return { status: 200, headers, body };
    }

    function pageReply(html: string): UiReply {
      const tag = tagOf(html);
      const headers = { ...pageHeaders(options), etag: tag };
      const isKnown = ifNoneMatch?.split(',').some((known) => known.trim().replace(/^W\//, '') === tag);
      return isKnown ? { status: 304, headers, body: null } : { status: 200, headers, body: html };
    }
  };
}

/** Redirects from the mount path to the page. The address is relative, because gateways may strip a prefix. */
function redirectToPage(mountPath: string): UiReply {
  const last = mountPath.slice(mountPath.lastIndexOf('/') + 1);
  const location = last === '' ? './ui/' : `./${last}/ui/`;
  return { status: 302, headers: { location, 'cache-control': 'no-store' }, body: null };
}

/** Returns the path of a request target, which may be absolute (RFC 9112, 3.2.2). */
function pathOf(target: string): string {
  const path = target.startsWith('/') ? target : target.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '');
  return path.split(/[?#]/, 1)[0] ?? '/';
}

/** Writes with Node's own methods, so that settings of the host have no effect. */
function write(response: ServerResponse, { status, headers, body }: UiReply): void {
  if (response.headersSent) return;
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) {
    if (name === 'vary') response.appendHeader(name, value);
    else response.setHeader(name, value);
  }
  response.end(body ?? undefined);
}

/** A built file, compressed with Brotli, in base64. */
interface Asset {
  readonly type: string;
  readonly brotli: string;
}

type Encoding = 'br' | 'gzip' | 'identity';

interface Encoded {
  readonly encoding: Encoding;
  readonly body: Uint8Array;
}

/** Encodes built files for clients. Caches each encoding after its first use. */
class AssetEncoder {
  readonly #bodies = new Map<string, Uint8Array>();

  encode(name: string, asset: Asset, acceptEncoding: string): Encoded {
    const encoding = preferredEncoding(acceptEncoding);
    return { encoding, body: this.#bodyOf(name, asset, encoding) };
  }

  #bodyOf(name: string, asset: Asset, encoding: Encoding): Uint8Array {
    const key = `${encoding} ${name}`;
    const known = this.#bodies.get(key);
    if (known !== undefined) return known;
    const body = this.#convert(name, asset, encoding);
    this.#bodies.set(key, body);
    return body;
  }

  #convert(name: string, asset: Asset, encoding: Encoding): Uint8Array {
    if (encoding === 'br') return Buffer.from(asset.brotli, 'base64');
    if (encoding === 'gzip') return gzipSync(this.#bodyOf(name, asset, 'identity'), { level: 9 });
    return brotliDecompressSync(this.#bodyOf(name, asset, 'br'));
  }
}

/** Returns the best encoding that a client accepts. Codings with `q=0` are refused (RFC 9110, 12.5.3). */
function preferredEncoding(acceptEncoding: string): Encoding {
  const accepted = new Set(
    acceptEncoding
      .toLowerCase()
      .split(',')
      .map((item) => item.split(';').map((part) => part.trim()))
      .filter(([, quality = 'q=1']) => Number(quality.slice(2)) > 0)
      .map(([coding]) => coding),
  );
  if (accepted.has('br')) return 'br';
  return accepted.has('gzip') ? 'gzip' : 'identity';
}
