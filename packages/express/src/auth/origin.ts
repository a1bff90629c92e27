import type { Request } from 'express';
import { Refusal } from '../errors/refusal.js';
import type { Access } from '../route.js';
import { isHost } from './host-name.js';

/** Refuses a request that a page of another origin makes with the user's cookies, with `cross_origin`. */
export type OriginCheck = (request: Pick<Request, 'method' | 'headers'>, access: Access) => void;

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
  return ({ method, headers }, access) => {
    if (SAFE_METHODS.has(method) || !GUARDED.has(access)) return;
    const { origin, host, 'sec-fetch-site': site } = headers;
    if (origin !== undefined && trusted.has(origin)) return;
    if (site === undefined ? origin === undefined || isOriginOf(origin, host) : isOwnSite(site)) return;
    throw new Refusal('cross_origin', CROSS_ORIGIN);
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
