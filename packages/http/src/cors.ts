import type { CorsOptions } from './options.js';
import type { Reply } from './reply.js';
import type { FlagsRequest } from './request.js';
import { accessOf } from './routing.js';

/** How long browsers may cache a preflight reply, in seconds. Browsers apply a lower maximum. */
const MAX_AGE = '86400';

/** The CORS part of a reply. */
export interface CorsAnswer {
  /** Headers for every reply to the request. */
  readonly headers: Readonly<Record<string, string>>;
  /** The complete reply, if the request is a preflight from an allowed origin. */
  readonly preflight?: Reply;
}

export type Cors = (request: Pick<FlagsRequest, 'method' | 'path' | 'headers'>) => CorsAnswer | undefined;

/** Applies CORS to the frontend API and OFREP only. Pages of other origins use no other API. */
export function createCors({ origins }: CorsOptions): Cors {
  const allowed = origins === '*' ? origins : new Set(origins);
  return (request) => {
    const access = accessOf(request.path);
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
function preflightReply({ headers }: Pick<FlagsRequest, 'headers'>): Reply {
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
