import type { Request } from 'express';
import type { Gate } from './auth.js';
import { coalescePerTick } from './coalesce-per-tick.js';
import type { Cors } from './cors.js';
import type { Endpoint } from './endpoint.js';
import type { Answer } from './handler.js';
import type { HostCheck } from './origin.js';
import type { Reply } from './reply.js';
import type { Route } from './route.js';
import {
  accessOf,
  allowedMethods,
  type FoundRoute,
  isDecodable,
  type RouteLookup,
  undecodablePathError,
  unmatchedError,
} from './routing.js';

export interface DispatchParts {
  readonly findRoutes: RouteLookup;
  readonly endpoints: ReadonlyMap<Route, Endpoint>;
  readonly gate: Gate;
  readonly cors: Cors | undefined;
  /** Only where anybody is let in. */
  readonly checkHost: HostCheck | undefined;
}

/** Finds the row that a request is for, lets the request in, and has it answered; undefined for what passes through. */
export function createDispatch({ findRoutes, endpoints, gate, cors, checkHost }: DispatchParts): Answer {
  const turn = coalescePerTick();
  return async (request, response) => {
    const { path } = request;
    const access = accessOf(path);
    if (access === undefined) return undefined;
    checkHost?.(request);
    const preflight = cors?.(request, response);
    if (preflight) return preflight;
    const known = isDecodable(path) ? findRoutes(path) : [];
    if (request.method === 'OPTIONS') return answerOptions(path, known);
    const found = known.find(({ route }) => takes(route, request.method));
    if (found) tellHost(request, found);
    // Reads that arrive together are answered together; other requests wait for their bodies anyway.
    if (found?.route.method === 'GET') await turn();
    const visitor = await gate(request, access);
    const endpoint = found && endpoints.get(found.route);
    return endpoint ? endpoint({ request, response, visitor }) : unmatchedError(request, known);
  };
}

function takes(route: Route, method: string): boolean {
  return route.method === method || (route.method === 'GET' && method === 'HEAD');
}

/** As Express answers it: anybody may ask which methods there are. Of unknown paths the host may know more. */
function answerOptions(path: string, known: readonly FoundRoute[]): Reply | undefined {
  if (!isDecodable(path)) return undecodablePathError(path);
  return known.length === 0 ? undefined : { status: 200, headers: { allow: allowedMethods(known) } };
}

/** What Express tells of a route: the host's own functions and its measuring middleware may look at it. */
function tellHost(request: Request, { route, params }: FoundRoute): void {
  request.params = request.path.includes('%') ? decoded(params) : params;
  request.route = { path: route.path };
}

function decoded(params: FoundRoute['params']): FoundRoute['params'] {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, decodeURIComponent(value)]));
}
