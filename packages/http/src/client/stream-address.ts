import { type AuthMode, TICKET_PARAMETER } from '../auth/auth.js';
import { ownOriginIn } from '../auth/origin.js';
import type { Principal } from '../auth/permissions.js';
import type { FlagsRequest } from '../messages/request.js';
import type { StreamTickets } from '../source.js';

/** Seconds after which a hidden page closes its stream: over HTTP/1.1 a browser has six connections per origin. */
const INACTIVITY_DELAY = 30;

/** The address of the stream of changes, in the form of OFREP. */
export interface EventStreamAddress {
  readonly type: 'sse';
  /** Has no origin: the provider adds that of its `baseUrl`. */
  readonly endpoint: { readonly origin?: string; readonly requestUri: string };
  readonly inactivityDelaySec: number;
}

/** A request for all flags. */
interface BulkRequest {
  readonly sent: FlagsRequest;
  readonly principal: Principal;
  readonly query: Readonly<Record<string, unknown>>;
}

interface AddressOptions {
  readonly auth: AuthMode;
  readonly tickets: StreamTickets | undefined;
}

export type FindAddresses = (request: BulkRequest) => Promise<readonly EventStreamAddress[] | undefined>;

/**
 * Creates a function that returns the streams for the caller of a bulk evaluation; undefined if its browser could not
 * open one. A provider that cannot open its stream would try again every second.
 */
export function createAddressFinder({ auth, tickets }: AddressOptions): FindAddresses {
  return async ({ sent, principal: { scope, token }, query }) => {
    const path = streamPathOf(sent);
    const origin = ownOriginIn(sent);
    const parameters = new URLSearchParams();
    if (path === undefined) return undefined;
    if (auth === 'host' && (origin === undefined || hasCredentials(sent))) return undefined;
    if (auth === 'token' || auth === 'session') {
      const ticket = token && (await tickets?.issue(token));
      if (ticket === undefined) return undefined;
      parameters.set(TICKET_PARAMETER, ticket);
    }
    if (scope.environment === '*' && typeof query.environment === 'string') {
      parameters.set('environment', query.environment);
    }
    const requestUri = parameters.size > 0 ? `${path}?${parameters}` : path;
    const endpoint = { ...(origin !== undefined && { origin }), requestUri };
    return [{ type: 'sse', endpoint, inactivityDelaySec: INACTIVITY_DELAY }];
  };
}

/** Whether the request has a token in a header. The `EventSource` of a browser cannot send one. */
function hasCredentials({ headers }: FlagsRequest): boolean {
  return headers.authorization !== undefined || headers['x-api-key'] !== undefined;
}

/**
 * Returns the path of the stream beside the path of a bulk evaluation, as the client has sent it. Undefined if the host has
 * rewritten that path. Empty segments are dropped: two slashes at the beginning would name another host.
 */
function streamPathOf(sent: FlagsRequest): string | undefined {
  const segments = segmentsOf(sent.originalUrl.split(/[?#]/, 1)[0]);
  const end = segments.slice(-2).join('/').toLowerCase();
  if (end !== 'evaluate/flags') return undefined;
  return `/${[...prefixOf(sent), ...segments.slice(0, -2), 'event-stream'].join('/')}`;
}

/** Returns the prefix of the first proxy. Ignores text that is not a path. */
function prefixOf(sent: FlagsRequest): readonly string[] {
  const segments = segmentsOf(sent.prefix?.()?.split(',', 1)[0]?.trim());
  return segments.every((segment) => /^[\w\-.~!$&'()*+;=:@%]+$/.test(segment)) ? segments : [];
}

function segmentsOf(path = ''): readonly string[] {
  return path.split('/').filter((segment) => segment !== '');
}
