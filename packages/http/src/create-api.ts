import timers from 'node:timers';
import { type Flags, isFlagsError } from '@flags/core';
import { describeNonFlags } from '@flags/core/integration';
import { type Authentication, type AuthOptions, admitOutsiders, createAuthentication } from './auth.js';
import type { Endpoint } from './endpoint.js';
import { errorReply, HttpError, invalidInput, toErrorObject } from './errors.js';
import { type Actor, assertOptions, type FlagsApiOptions, type SessionApiOptions } from './options.js';
import { type Cors, createCors, createHostCheck, type HostCheck } from './origin.js';
import type { Access } from './permissions.js';
import { type FlagsReply, type Reply, toFlagsReply } from './reply.js';
import type { FlagsRequest } from './request.js';
import type { Route } from './route.js';
import { createEndpoints, ROUTES } from './routes/all-routes.js';

/** The original timer: fake timers in the tests of a host would block every request. */
const { setImmediate } = timers;

/**
 * The HTTP API of an engine, independent of any framework. Adapters such as `toNodeHandler` and `toFetchHandler` call
 * it.
 */
export interface FlagsApi<Native = unknown> {
  /** Returns whether the API serves this path. All other paths belong to the host. */
  isOwnPath(path: string): boolean;
  /**
   * Returns the reply to a request, or undefined for paths that belong to the host. Rejects with defects and with
   * errors of host functions; every rejection is an object. Safe to call concurrently.
   */
  handle(request: FlagsRequest<Native>): Promise<FlagsReply | undefined>;
  /**
   * Returns the CORS headers of a request. Replies include them. A host that replies itself adds them to its response.
   */
  corsHeaders(request: FlagsRequest<Native>): Readonly<Record<string, string>>;
  /**
   * Ends all streams (`/api/client/streaming`, `/api/admin/event-stream`) and refuses new ones with `closed`.
   *
   * Other requests still get their replies. Call it before you close the server, which waits for open connections.
   * `flags.close()` also ends the streams. Repeated calls do nothing.
   */
  close(): void;
}

/**
 * Creates the HTTP API of an engine, independent of any framework.
 *
 * It serves the admin API under `/api/admin` and server-side SDKs under `/api/client`. It serves browser SDKs under
 * `/api/frontend` and the OpenFeature Remote Evaluation Protocol under `/ofrep`.
 *
 * @param flags The flags to serve. You close them; the API does not.
 * @param options `auth` is required; every other option has a default.
 * @returns The API, to pass to `toNodeHandler`, `toFetchHandler` or your own adapter.
 * @throws TypeError when `flags` is not the resolved value of `createFlags`, or when an option is invalid
 * @example
 * const api = createFlagsApi(flags, { auth: 'token' });
 * http.createServer(toNodeHandler(api)).listen(4242);
 */
export function createFlagsApi<A extends Actor = Actor, Native = unknown>(
  flags: Flags,
  options: FlagsApiOptions<A, Native>,
): FlagsApi<Native>;
/** Creates an API that accepts both sessions and API tokens. */
export function createFlagsApi<A extends Actor = Actor, Native = unknown>(
  flags: Flags,
  options: SessionApiOptions<A, Native>,
): FlagsApi<Native>;
/** For adapters: error messages begin with `caller`, the name of the calling function. */
export function createFlagsApi<A extends Actor = Actor, Native = unknown>(
  flags: Flags,
  options: AuthOptions<A, Native>,
  caller: string,
): FlagsApi<Native>;
export function createFlagsApi<A extends Actor, Native>(
  flags: Flags,
  options: AuthOptions<A, Native>,
  caller = 'createFlagsApi',
): FlagsApi<Native> {
  const fault = describeNonFlags(flags);
  if (fault) throw new TypeError(`${caller} ${fault}`);
  assertOptions(options, caller);
  const { onError = () => undefined } = options;
  const { endpoints, close } = createEndpoints(flags, options);
  const findRoutes = createRouteLookup(ROUTES);
  const cors = options.cors && createCors(options.cors);
  const checkHost = options.auth === 'none' ? createHostCheck(options) : undefined;
  const dispatch = createDispatch<Native>({
    findRoutes,
    endpoints,
    authenticate: createAuthentication(flags, options, caller),
    cors,
    checkHost,
  });

  /** Converts a refusal to a reply. Rethrows every other error. */
  function refuse(error: unknown, request: FlagsRequest<Native>): Reply {
    const found = findRoutes(request.path).find(({ route }) => route.method === request.method);
    if (isAbort(error, request)) return { status: CLIENT_GONE, headers: {} };
    const reply = errorReply(error, { route: found?.route, params: decodeParams(request.path, found?.params ?? {}) });
    if (reply === undefined) throw error;
    if (reply.status >= 500 && isFlagsError(error)) onError(error, request.native);
    return reply;
  }

  function corsHeaders(request: FlagsRequest<Native>): Readonly<Record<string, string>> {
    if (cors === undefined) return {};
    try {
      checkHost?.(request);
    } catch {
      return {};
    }
    return cors(request, accessOf(request.path))?.headers ?? {};
  }

  async function answer(request: FlagsRequest<Native>): Promise<Reply | undefined> {
    try {
      return await dispatch(request);
    } catch (error) {
      return refuse(error, request);
    }
  }

  return {
    isOwnPath: (path) => accessOf(path) !== undefined,
    corsHeaders,
    async handle(request) {
      try {
        const reply = await answer(request);
        if (reply === undefined) return undefined;
        // The client already has the head of the stream, so only the host can handle the error.
        const onLateError = (error: unknown) => {
          if (!isFlagsError(error)) throw toErrorObject(error);
          onError(error, request.native);
        };
        return toFlagsReply(reply, { request, headers: corsHeaders(request), onLateError });
      } catch (error) {
        throw toErrorObject(error);
      }
    },
    close,
  };
}

/** The status that access logs use for clients that disconnected. No client receives it. */
const CLIENT_GONE = 499;

/** Whether the request ended early because its client has disconnected. */
function isAbort(error: unknown, { signal }: FlagsRequest): boolean {
  return signal?.aborted === true && error === signal.reason;
}

interface DispatchParts<Native> {
  readonly findRoutes: RouteLookup;
  readonly endpoints: ReadonlyMap<Route, Endpoint>;
  readonly authenticate: Authentication<Native>;
  readonly cors: Cors | undefined;
  /** Present only when `auth` is `'none'`. */
  readonly checkHost: HostCheck | undefined;
}

/** Returns the reply to a request, or undefined for a path that belongs to the host. */
type Dispatch<Native> = (request: FlagsRequest<Native>) => Promise<Reply | undefined>;

/** Finds the route of a request, authenticates the caller, and calls the endpoint. */
function createDispatch<Native>({
  findRoutes,
  endpoints,
  authenticate,
  cors,
  checkHost,
}: DispatchParts<Native>): Dispatch<Native> {
  const turn = coalescePerTick();
  const authenticateOpenly = admitOutsiders(authenticate);
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
    const principal = await (found?.route.isOpen ? authenticateOpenly : authenticate)(request, access);
    const endpoint = found && endpoints.get(found.route);
    return endpoint ? endpoint({ request, params, principal }) : unmatchedError(request, candidates);
  };
}

/**
 * Returns a function that resolves after the current event-loop phase. All callers in the same phase share one promise.
 */
function coalescePerTick(): () => Promise<void> {
  let next: Promise<void> | undefined;
  return () => {
    next ??= new Promise<void>((resolve) => {
      setImmediate(() => {
        next = undefined;
        resolve();
      });
    });
    return next;
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
function createRouteLookup(routes: readonly Route[]): RouteLookup {
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
  const [, api, protocol] = /^\/+(?:api\/+(admin|client|frontend)|(ofrep))(?:\/|$)/i.exec(path) ?? [];
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
function decodeParams(path: string, params: FoundRoute['params']): FoundRoute['params'] {
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
