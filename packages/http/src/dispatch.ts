import { type Gate, openGate } from './auth.js';
import { coalescePerTick } from './coalesce-per-tick.js';
import type { Cors } from './cors.js';
import type { Endpoint } from './endpoint.js';
import type { HostCheck } from './origin.js';
import type { Reply } from './reply.js';
import type { FlagsRequest } from './request.js';
import type { Route } from './route.js';
import {
  accessOf,
  allowedMethods,
  decodeParams,
  type FoundRoute,
  isDecodable,
  type RouteLookup,
  undecodablePathError,
  unmatchedError,
} from './routing.js';

export interface DispatchParts<Native> {
  readonly findRoutes: RouteLookup;
  readonly endpoints: ReadonlyMap<Route, Endpoint>;
  readonly gate: Gate<Native>;
  readonly cors: Cors | undefined;
  /** Present only when `auth` is `'none'`. */
  readonly checkHost: HostCheck | undefined;
}

/** Returns the reply to a request, or undefined for a path that belongs to the host. */
export type Dispatch<Native> = (request: FlagsRequest<Native>) => Promise<Reply | undefined>;

/** Finds the route of a request, authenticates the caller, and calls the endpoint. */
export function createDispatch<Native>({
  findRoutes,
  endpoints,
  gate,
  cors,
  checkHost,
}: DispatchParts<Native>): Dispatch<Native> {
  const turn = coalescePerTick();
  const letIn = openGate(gate);
  return async (request) => {
    const { path } = request;
    const access = accessOf(path);
    if (access === undefined) return undefined;
    checkHost?.(request);
    const preflight = cors?.(request)?.preflight;
    if (preflight) return preflight;
    const candidates = isDecodable(path) ? findRoutes(path) : [];
    if (request.method === 'OPTIONS') return answerOptions(path, candidates);
    const found = candidates.find(({ route }) => takes(route, request.method));
    const params = found ? decodeParams(path, found.params) : {};
    if (found) request.onMatch?.(found.route.path, params);
    // Batches simultaneous reads. Other requests wait for their bodies anyway.
    if (found?.route.method === 'GET') await turn();
    const principal = await (found?.route.isOpen ? letIn : gate)(request, access);
    const endpoint = found && endpoints.get(found.route);
    return endpoint ? endpoint({ request, params, principal }) : unmatchedError(request, candidates);
  };
}

function takes(route: Route, method: string): boolean {
  return route.method === method || (route.method === 'GET' && method === 'HEAD');
}

/**
 * Lists the methods of a known path without authentication, as Express does. An unknown path passes through to the
 * host.
 */
function answerOptions(path: string, known: readonly FoundRoute[]): Reply | undefined {
  if (!isDecodable(path)) return undecodablePathError(path);
  return known.length === 0 ? undefined : { status: 200, headers: { allow: allowedMethods(known) } };
}
