import { isIPv4, isIPv6 } from 'node:net';
import { HttpError } from './errors.js';
import type { FlagsRequest } from './request.js';
import type { Access } from './route.js';

/** Refuses a request for a host that is not this server's, with `host_not_allowed`. */
export type HostCheck = (request: Pick<FlagsRequest, 'host'>) => void;

/** A name, or an address; a port may follow. */
const HOST = /^(\[[\da-f:.]+\]|[a-z\d._-]+)(?::\d{1,5})?$/i;

/**
 * Guards a server without authentication against DNS rebinding: a page whose own name resolves to this machine is of the same
 * origin as this server, but its name has a dot and is not among the allowed hosts.
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

/** Whether this is what a header `Host` can hold. */
export function isHost(text: unknown): text is string {
  return typeof text === 'string' && HOST.test(text);
}

function nameIn(host: string): string | undefined {
  return HOST.exec(host)?.[1]?.toLowerCase().replace(/\.$/, '');
}

/** Names of this machine, addresses, and names without a dot, as containers and clusters give them. */
function isLocal(name: string): boolean {
  if (name.startsWith('[')) return isIPv6(name.slice(1, -1));
  return isIPv4(name) || (name !== '' && !name.includes('.')) || name.endsWith('.localhost');
}

/** Refuses a request that a page of another origin makes with the user's cookies, with `cross_origin`. */
export type OriginCheck = (request: Pick<FlagsRequest, 'method' | 'host' | 'headers'>, access: Access) => void;

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
/** Browsers of other origins may use the frontend API and OFREP, where nothing can be changed: see the option `cors`. */
const GUARDED: ReadonlySet<Access> = new Set(['admin', 'client']);

/**
 * Compares where a write comes from with where it goes. `SameSite` cookies are not enough: ports and subdomains are the same
 * site. A request without `Sec-Fetch-Site` and `Origin` does not come from a browser.
 */
export function createOriginCheck({
  trustedOrigins = [],
}: {
  readonly trustedOrigins?: readonly string[];
}): OriginCheck {
  const trusted = new Set(trustedOrigins);
  return ({ method, host, headers }, access) => {
    if (SAFE_METHODS.has(method) || !GUARDED.has(access)) return;
    const { origin, 'sec-fetch-site': site } = headers;
    if (origin !== undefined && trusted.has(origin)) return;
    if (site === undefined ? origin === undefined || isOriginOf(origin, host) : isOwnSite(site)) return;
    throw new HttpError('cross_origin', CROSS_ORIGIN);
  };
}

const CROSS_ORIGIN =
  'A page of another origin sent this request. Send an API token, or add the origin to trustedOrigins (FLAGS_TRUSTED_ORIGINS).';

/** `none`: the user has typed the address, or opened a bookmark. */
function isOwnSite(site: string | string[]): boolean {
  return site === 'same-origin' || site === 'none';
}

/** Whether pages of this origin are served under this host. The scheme is not compared: a proxy may end TLS. */
function isOriginOf(origin: string, host: string | undefined): boolean {
  if (!isHost(host) || !URL.canParse(origin)) return false;
  const { protocol, host: originHost } = new URL(origin);
  const url = `${protocol}//${host}`;
  return originHost !== '' && URL.canParse(url) && new URL(url).host === originHost;
}
