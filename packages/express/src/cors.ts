import type { Request, Response } from 'express';
import type { CorsOptions } from './options.js';
import type { Reply } from './reply.js';
import { accessOf } from './routing.js';

/** Seconds for which a browser may remember what it was allowed; browsers cut it to less. */
const MAX_AGE = '86400';

/** Marks an answer for the browser, and answers its question whether it may ask at all. */
export type Cors = (request: Request, response: Response) => Reply | undefined;

/** For the frontend API and OFREP alone: nothing else is asked by pages of other origins. */
export function createCors({ origins }: CorsOptions): Cors {
  const allowed = origins === '*' ? origins : new Set(origins);
  return (request, response) => {
    const access = accessOf(request.path);
    if (access !== 'frontend' && access !== 'ofrep') return undefined;
    response.appendHeader('vary', 'Origin');
    const { origin } = request.headers;
    if (origin === undefined || !(allowed === '*' || allowed.has(origin))) return undefined;
    response.setHeader('access-control-allow-origin', allowed === '*' ? '*' : origin);
    response.setHeader('access-control-expose-headers', 'ETag');
    if (!isPreflight(request)) return undefined;
    response.appendHeader('vary', 'Access-Control-Request-Headers');
    return preflightReply(request);
  };
}

function isPreflight({ method, headers }: Request): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

/** SDKs send headers of their own, and let applications add some: whatever is asked for is allowed. */
function preflightReply({ headers }: Request): Reply {
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
