import type { CorsOptions } from './options.js';
import type { Reply } from './reply.js';
import type { FlagsRequest } from './request.js';
import { accessOf } from './routing.js';

/** Seconds for which a browser may remember what it was allowed; browsers cut it to less. */
const MAX_AGE = '86400';

/** What CORS says about a request. */
export interface CorsAnswer {
  /** Of every reply to the request. */
  readonly headers: Readonly<Record<string, string>>;
  /** The whole reply, where the request is a preflight of an allowed origin. */
  readonly preflight?: Reply;
}

export type Cors = (request: Pick<FlagsRequest, 'method' | 'path' | 'headers'>) => CorsAnswer | undefined;

/** Answers for the frontend API and OFREP alone: pages of other origins use nothing else. */
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

/** SDKs send headers of their own, and let applications add some: every requested header is allowed. */
function preflightReply({ headers }: Pick<FlagsRequest, 'headers'>): Reply {
  const asked = headers['access-control-request-headers'];
  return {
    status: 204,
    headers: {
      'access-control-allow-methods': 'GET, HEAD, POST',
      'access-control-max-age': MAX_AGE,
      ...(asked && { 'access-control-allow-headers': asked }),
    },
  };
}
