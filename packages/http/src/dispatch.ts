import type { Gate } from './auth.js';
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
  /** Only where anybody is let in. */
  readonly checkHost: HostCheck | undefined;
}

/** Answers a request; undefined for a path that the host may know. */
export type Dispatch<Native> = (request: FlagsRequest<Native>) => Promise<Reply | undefined>;

/** Finds the row that a request is for, lets the request in, and has it answered; undefined for what passes through. */
export function createDispatch<Native>({
  findRoutes,
  endpoints,
  gate,
  cors,
  checkHost,
}: DispatchParts<Native>): Dispatch<Native> {
  const turn = coalescePerTick();
  return async (request) => {
    const { path } = request;
    const access = accessOf(path);
    if (access === undefined) return undefined;
    checkHost?.(request);
    const preflight = cors?.(request)?.preflight;
    if (preflight) return preflight;
    const known = isDecodable(path) ? findRoutes(path) : [];
    if (request.method === 'OPTIONS') return answerOptions(path, known);
    const found = known.find(({ route }) => takes(route, request.method));
    const params = found ? decodeParams(path, found.params) : {};
    if (found) request.onMatch?.(found.route.path, params);
    // Reads that arrive together are answered together; other requests wait for their bodies anyway.
    if (found?.route.method === 'GET') await turn();
    const visitor = await gate(request, access);
    const endpoint = found && endpoints.get(found.route);
    return endpoint ? endpoint({ request, params, visitor }) : unmatchedError(request, known);
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
