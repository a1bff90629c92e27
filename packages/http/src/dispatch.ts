import { type Gate, openGate } from './auth.js';
import { coalescePerTick } from './coalesce-per-tick.js';
import type { Endpoint } from './endpoint.js';
import { HttpError, invalidInput } from './errors.js';
import type { Cors, HostCheck } from './origin.js';
import type { Access } from './permissions.js';
import type { Reply } from './reply.js';
import type { FlagsRequest } from './request.js';
import type { Route } from './route.js';

interface DispatchParts<Native> {
  readonly findRoutes: RouteLookup;
  readonly endpoints: ReadonlyMap<Route, Endpoint>;
  readonly gate: Gate<Native>;
  readonly cors: Cors | undefined;
  /** Present only when `auth` is `'none'`. */
  readonly checkHost: HostCheck | undefined;
}

/** Returns the reply to a request, or undefined for a path that belongs to the host. */
type Dispatch<Native> = (request: FlagsRequest<Native>) => Promise<Reply | undefined>;

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
    const preflight = cors?.(request, access)?.preflight;
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

/** A route whose path matches, and its path parameters, still percent-encoded. */
interface FoundRoute {
  readonly route: Route;
  readonly params: Record<string, string>;
}

/**
 * Returns the routes whose path matches, with any method, in their order. Matches as Express does: ignores case and a
 * trailing slash. Collapses repeated slashes, because some SDKs join URLs with them.
 */
type RouteLookup = (path: string) => readonly FoundRoute[];

/** Looks up fixed paths in a map. Tests patterns only against paths with the same number of segments. */
export function createRouteLookup(routes: readonly Route[]): RouteLookup {
  const fixed = routes.filter(isFixed);
  const fixedAt = new Map(
    fixed.map(({ path }) => [path.toLowerCase(), fixed.filter((other) => other.path === path)] as const),
  );
  const paths = [...new Set(routes.filter((route) => !isFixed(route)).map(({ path }) => path))];
  const patterns = paths.map((path) => toPattern(path, routes));
  const patternsOf = new Map(patterns.map(({ parts }) => [parts, patterns.filter((other) => other.parts === parts)]));
  return (path) => {
    const single = withSingleSlashes(path);
    const normalizedPath = single.endsWith('/') ? single.slice(0, -1) : single;
    const found: FoundRoute[] = (fixedAt.get(normalizedPath.toLowerCase()) ?? []).map((route) => ({
      route,
      params: {},
    }));
    for (const { pattern, routes } of patternsOf.get(partsOf(normalizedPath)) ?? []) {
      const match = pattern.exec(normalizedPath);
      if (!match) continue;
      const params = { ...match.groups };
      for (const route of routes) found.push({ route, params });
    }
    return found;
  };
}

const ACCESSES: readonly Access[] = ['admin', 'client', 'frontend', 'ofrep'];

/** Returns the part of the API that a path belongs to; undefined for paths of the host. */
export function accessOf(path: string): Access | undefined {
  const [, api, protocol] = /^\/(?:api\/(admin|client|frontend)|(ofrep))(?:\/|$)/i.exec(withSingleSlashes(path)) ?? [];
  const access = (api ?? protocol)?.toLowerCase();
  return ACCESSES.find((one) => one === access);
}

/** Returns the value of the `Allow` header for these routes. */
function allowedMethods(found: readonly FoundRoute[]): string {
  const methods = found.flatMap(({ route: { method } }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return [...new Set(methods)].sort().join(', ');
}

function withSingleSlashes(path: string): string {
  return path.includes('//') ? path.replaceAll(/\/{2,}/g, '/') : path;
}

function isFixed({ path }: Route): boolean {
  return !path.includes(':');
}

function partsOf(path: string): number {
  return path.split('/').length;
}

/** Returns the pattern of a path, with the routes of all methods. */
function toPattern(path: string, all: readonly Route[]) {
  const source = path.replaceAll('.', '\\.').replaceAll(/:(\w+)/g, '(?<$1>[^/]+)');
  const routes = all.filter((route) => route.path === path);
  return { routes, parts: partsOf(path), pattern: new RegExp(`^${source}$`, 'i') };
}

function isDecodable(path: string): boolean {
  if (!path.includes('%')) return true;
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** Decodes path parameters; returns none when the path cannot be decoded. */
export function decodeParams(path: string, params: FoundRoute['params']): FoundRoute['params'] {
  if (!path.includes('%')) return params;
  if (!isDecodable(path)) return {};
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, decodeURIComponent(value)]));
}

function undecodablePathError(path: string): never {
  throw invalidInput([{ message: `the path ${path} holds an escape that cannot be decoded` }]);
}

/** Throws the refusal of a request that no route handles, given the routes with its path. */
function unmatchedError(
  { method, path }: { readonly method: string; readonly path: string },
  known: readonly FoundRoute[],
): never {
  if (!isDecodable(path)) return undecodablePathError(path);
  if (known.length === 0) {
    throw new HttpError('not_found', `There is nothing at ${path}. Look at /api/admin/openapi.json.`);
  }
  const allow = allowedMethods(known);
  throw new HttpError('method_not_allowed', `${path} does not take ${method}. Use one of ${allow}.`, { allow });
}
