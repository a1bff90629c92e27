import { isIPv4, isIPv6 } from 'node:net';
import { HttpError } from '../messages/errors.js';
import type { FlagsReply } from '../messages/reply.js';
import { type FlagsRequest, isJsonType } from '../messages/request.js';
import type { Access } from './permissions.js';

/** Throws `host_not_allowed` when the `Host` header names another server. */
export type HostCheck = (request: Pick<FlagsRequest, 'host'>) => void;

/** A host name or IP address, with an optional port. */
const HOST = /^(\[[\da-f:.]+\]|[a-z\d._-]+)(?::\d{1,5})?$/i;

/**
 * Protects a server without authentication against DNS rebinding. A page whose name resolves to this machine shares
 * this server's origin. Its name contains a dot and is not an allowed host.
 */
export function createHostCheck({ allowedHosts = [] }: { readonly allowedHosts?: readonly string[] }): HostCheck {
  const allowed = new Set(allowedHosts.map((host) => host.toLowerCase()));
  return ({ host = '' }) => {
    const name = nameIn(host);
    if (name !== undefined && (isLocal(name) || allowed.has(name) || allowed.has(host.toLowerCase()))) return;
    throw new HttpError(
      'host_not_allowed',
      'The header Host names a host that this server, which has no authentication, does not know. ' +
        'Add it to allowedHosts (FLAGS_ALLOWED_HOSTS).',
    );
  };
}

/** Returns whether a `Host` header can hold this value. */
export function isHost(text: unknown): text is string {
  return typeof text === 'string' && HOST.test(text);
}

function nameIn(host: string): string | undefined {
  return HOST.exec(host)?.[1]?.toLowerCase().replace(/\.$/, '');
}

/** Returns whether this is `localhost`, an IP address, or a name without a dot, as in containers and clusters. */
function isLocal(name: string): boolean {
  if (name.startsWith('[')) return isIPv6(name.slice(1, -1));
  return isIPv4(name) || (name !== '' && !name.includes('.')) || name.endsWith('.localhost');
}

/** Throws `cross_origin` when a page of another origin sends a write with the user's cookies. */
type OriginCheck = (request: Pick<FlagsRequest, 'method' | 'host' | 'headers'>, access: Access) => void;

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
/**
 * The frontend API and OFREP accept other origins, as far as the `cors` option does. They count usage, so a write needs a
 * JSON content type: without it, a browser would send the request of any page before it asks for permission.
 */
const IS_OPEN_TO_PAGES: Readonly<Record<Access, boolean>> = {
  admin: false,
  client: false,
  frontend: true,
  ofrep: true,
};

/**
 * Compares the origin of a write with its target. `SameSite` cookies are not enough, because ports and subdomains share
 * a site. Requests without `Sec-Fetch-Site` and `Origin` do not come from a browser.
 */
export function createOriginCheck({
  trustedOrigins = [],
}: {
  readonly trustedOrigins?: readonly string[];
}): OriginCheck {
  const trusted = new Set(trustedOrigins);
  return ({ method, host, headers }, access) => {
    if (SAFE_METHODS.has(method)) return;
    if (IS_OPEN_TO_PAGES[access] && isJsonType(headers['content-type'])) return;
    const { origin, 'sec-fetch-site': site } = headers;
    if (origin !== undefined && trusted.has(origin)) return;
    if (site === undefined ? origin === undefined || isOriginOf(origin, host) : isOwnSite(site)) return;
    throw new HttpError('cross_origin', CROSS_ORIGIN);
  };
}

const CROSS_ORIGIN =
  'A page of another origin sent this request. Send an API token, or add the origin to trustedOrigins (FLAGS_TRUSTED_ORIGINS). Evaluations and reports of pages also need the header Content-Type: application/json.';

/**
 * Returns the origin of the page that has sent a request, if it is the server's own. Undefined for every other page, and for
 * clients that are not browsers.
 */
export function ownOriginIn({ host, headers }: Pick<FlagsRequest, 'host' | 'headers'>): string | undefined {
  const { origin, 'sec-fetch-site': site } = headers;
  if (origin === undefined || !(site === undefined ? isOriginOf(origin, host) : site === 'same-origin'))
    return undefined;
  return URL.canParse(origin) ? origin : undefined;
}

/** `none` means that the user typed the address or opened a bookmark. */
function isOwnSite(site: string | string[]): boolean {
  return site === 'same-origin' || site === 'none';
}

/** Returns whether this host serves the origin. Ignores the scheme, because a proxy may terminate TLS. */
function isOriginOf(origin: string, host: string | undefined): boolean {
  if (!isHost(host) || !URL.canParse(origin)) return false;
  const { protocol, host: originHost } = new URL(origin);
  const url = `${protocol}//${host}`;
  return originHost !== '' && URL.canParse(url) && new URL(url).host === originHost;
}

/** How long browsers may cache a preflight reply, in seconds. Browsers apply a lower maximum. */
const MAX_AGE = '86400';

/** The CORS part of a reply. */
interface CorsAnswer {
  /** Headers for every reply to the request. */
  readonly headers: Readonly<Record<string, string>>;
  /** The complete reply, if the request is a preflight from an allowed origin. */
  readonly preflight?: FlagsReply;
}

export type Cors = (
  request: Pick<FlagsRequest, 'method' | 'headers'>,
  access: Access | undefined,
) => CorsAnswer | undefined;

/** Applies CORS to the frontend API and OFREP only. Pages of other origins use no other API. */
export function createCors({ origins }: { readonly origins: readonly string[] | '*' }): Cors {
  const allowed = origins === '*' ? origins : new Set(origins);
  return (request, access) => {
    if (access !== 'frontend' && access !== 'ofrep') return undefined;
    const { origin } = request.headers;
    if (origin === undefined || !(allowed === '*' || allowed.has(origin))) return { headers: { vary: 'Origin' } };
    const isAsked = isPreflight(request);
    const headers = {
      vary: isAsked ? 'Origin, Access-Control-Request-Headers' : 'Origin',
      'access-control-allow-origin': allowed === '*' ? '*' : origin,
      'access-control-expose-headers': 'ETag',
    };
    return isAsked ? { headers, preflight: preflightReply(request) } : { headers };
  };
}

function isPreflight({ method, headers }: Pick<FlagsRequest, 'method' | 'headers'>): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

/** Allows every requested header, because SDKs send custom headers and let applications add more. */
function preflightReply({ headers }: Pick<FlagsRequest, 'headers'>): FlagsReply {
  const requestedHeaders = headers['access-control-request-headers'];
  return {
    status: 204,
    headers: {
      'access-control-allow-methods': 'GET, HEAD, POST',
      'access-control-max-age': MAX_AGE,
      ...(requestedHeaders && { 'access-control-allow-headers': requestedHeaders }),
    },
  };
}
