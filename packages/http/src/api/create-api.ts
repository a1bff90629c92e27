import timers from 'node:timers';
import { type FlagsError, isFlagsError } from '@flags/core';
import { permissionOf } from '../actions.js';
import { type Authentication, admitOutsiders } from '../auth/auth.js';
import type { Cors, HostCheck } from '../auth/origin.js';
import type { Access } from '../auth/permissions.js';
import { errorReply, HttpError, InvalidActor, invalidInput, toErrorObject } from '../messages/errors.js';
import { type FlagsReply, toFlagsReply } from '../messages/reply.js';
import type { FlagsRequest } from '../messages/request.js';
import { DEPTH_HEADER, type FollowedSource } from '../source.js';
import type { Endpoint } from './endpoint.js';
import type { Route } from './route.js';

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
   * Ends all streams (`/api/client/streaming`, `/ofrep/v1/event-stream`, `/api/admin/event-stream`) and refuses new ones with `closed`.
   *
   * Other requests still get their replies. Call it before you close the server, which waits for open connections.
   * `flags.close()` also ends the streams. Repeated calls do nothing.
   */
  close(): void;
}

/** What an API is made of. */
interface ApiParts<Native> {
  readonly endpoints: ReadonlyMap<Route, Endpoint>;
  readonly authenticate: Authentication<Native>;
  readonly cors: Cors | undefined;
  readonly checkHost: HostCheck | undefined;
  /** Present if the API serves a follower. */
  readonly following: FollowedSource | undefined;
  /** Receives the errors for which the API replies with 500 or above. */
  readonly onError: (error: FlagsError, request: Native) => void;
  readonly close: () => void;
}

/** Creates the API that serves these endpoints. */
export function createApi<Native>({
  endpoints,
  authenticate,
  cors,
  checkHost,
  following,
  onError,
  close,
}: ApiParts<Native>): FlagsApi<Native> {
  const findRoutes = createRouteLookup([...endpoints.keys()]);
  const authenticateOpenly = admitOutsiders(authenticate);
  const openRoutes = new Set([...endpoints.keys()].filter(({ action }) => permissionOf(action) === undefined));
  const turn = createTurns();

  /** Finds the route of a request, authenticates the caller, and calls the endpoint. */
  async function dispatch(request: FlagsRequest<Native>, access: Access): Promise<FlagsReply | undefined> {
    const { path, method } = request;
    checkHost?.(request);
    const preflight = cors?.(request, access)?.preflight;
    if (preflight) return preflight;
    if (following) assertServed(following, access);
    const candidates = isDecodable(path) ? findRoutes(path) : [];
    if (method === 'OPTIONS') return answerOptions(path, candidates);
    const found = candidates.find(({ route }) => route.method === (method === 'HEAD' ? 'GET' : method));
    const params = found ? decodeParams(path, found.params) : {};
    if (found) request.onMatch?.(found.route.path, params);
    // Batches simultaneous reads. Other requests wait for their bodies anyway.
    if (found === undefined || found.route.method === 'GET') await turn();
    const principal = await (found && openRoutes.has(found.route) ? authenticateOpenly : authenticate)(request, access);
    const endpoint = found && endpoints.get(found.route);
    return endpoint ? endpoint({ request, params, principal }) : unmatchedError(request, candidates);
  }

  /** Converts a refusal to a reply. Rethrows every other error. */
  function refuse(error: unknown, request: FlagsRequest<Native>): FlagsReply {
    const found = findRoutes(request.path).find(({ route }) => route.method === request.method);
    if (isAbort(error, request)) return { status: CLIENT_GONE, headers: {} };
    const reply = errorReply(error, { route: found?.route, params: decodeParams(request.path, found?.params ?? {}) });
    if (error instanceof InvalidActor) onError(error.report, request.native);
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

  return {
    isOwnPath: (path) => accessOf(path) !== undefined,
    corsHeaders,
    async handle(request) {
      try {
        const access = accessOf(request.path);
        if (access === undefined) return undefined;
        const reply = await dispatch(request, access).catch((error) => refuse(error, request));
        if (reply === undefined) return undefined;
        const headers = { ...corsHeaders(request), ...depthHeaders(access, following) };
        // The client already has the head of the stream, so only the host can handle the error.
        const onLateError = (error: unknown) => {
          if (!isFlagsError(error)) throw toErrorObject(error);
          onError(error, request.native);
        };
        return toFlagsReply(reply, { request, headers, onLateError });
      } catch (error) {
        throw toErrorObject(error);
      }
    },
    close,
  };
}

const DEPTH = DEPTH_HEADER.toLowerCase();

/** Replies to SDKs say how many followers are between them and the engine. */
function depthHeaders(access: Access, following: FollowedSource | undefined): Readonly<Record<string, string>> {
  return access === 'admin' ? {} : { [DEPTH]: `${following?.depth ?? 0}` };
}

/** Throws for the admin API, which only an engine has, and while the follower must not serve. */
function assertServed(following: FollowedSource, access: Access): void {
  if (access === 'admin') {
    const message =
      'This server is a follower, which serves SDKs only. Administration is at the server that it follows.';
    throw new HttpError('not_found', message);
  }
  following.assertServing();
}

/** The status that access logs use for clients that disconnected. No client receives it. */
const CLIENT_GONE = 499;

/** Whether the request ended early because its client has disconnected. */
function isAbort(error: unknown, { signal }: FlagsRequest): boolean {
  return signal?.aborted === true && error === signal.reason;
}

/** How many reads one turn of the event loop answers. One connection may send thousands of requests at once. */
const READS_PER_TURN = 64;

/**
 * Returns a function that resolves in a later turn of the event loop. Callers share a promise up to a number; further
 * ones get the turns after it.
 */
function createTurns(): () => Promise<void> {
  const turns: { readonly promise: Promise<void>; readonly begin: () => void }[] = [];
  let shared = 0;

  function beginNext(): void {
    turns.shift()?.begin();
    if (turns.length > 0) setImmediate(beginNext);
  }

  return () => {
    let last = turns.at(-1);
    if (last === undefined || shared === READS_PER_TURN) {
      let begin = () => {};
      const promise = new Promise<void>((resolve) => {
        begin = resolve;
      });
      last = { promise, begin };
      if (turns.push(last) === 1) setImmediate(beginNext);
      shared = 0;
    }
    shared++;
    return last.promise;
  };
}

/**
 * Lists the methods of a known path without authentication, as Express does. An unknown path passes through to the
 * host.
 */
function answerOptions(path: string, known: readonly FoundRoute[]): FlagsReply | undefined {
  if (!isDecodable(path)) return undecodablePathError(path);
  return known.length === 0 ? undefined : { status: 200, headers: { allow: allowedMethods(known) } };
}

/** A route whose path matches, and its path parameters, still percent-encoded. */
interface FoundRoute {
  readonly route: Route;
  readonly params: Record<string, string>;
}

/**
 * Creates a function that returns the routes whose path matches, with any method, in their order. Matches as Express does:
 * ignores case and a trailing slash. Collapses repeated slashes, because some SDKs join URLs with them. Tests patterns
 * only against paths with the same number of segments.
 */
function createRouteLookup(routes: readonly Route[]): (path: string) => readonly FoundRoute[] {
  const patterns = new Map<number, { readonly pattern: RegExp; readonly routes: readonly Route[] }[]>();
  // The fewer parameters, the more specific the path. The most specific one comes first.
  const sorted = routes.toSorted((one, other) => parametersIn(one) - parametersIn(other));
  for (const path of new Set(sorted.map((route) => route.path))) {
    const source = path.replaceAll('.', '\\.').replaceAll(/:(\w+)/g, '(?<$1>[^/]+)');
    const known = patterns.get(segmentsOf(path)) ?? [];
    known.push({ pattern: new RegExp(`^${source}$`, 'i'), routes: routes.filter((route) => route.path === path) });
    patterns.set(segmentsOf(path), known);
  }
  return (path) => {
    const single = path.includes('//') ? path.replaceAll(/\/{2,}/g, '/') : path;
    const normalizedPath = single.endsWith('/') ? single.slice(0, -1) : single;
    const found: FoundRoute[] = [];
    for (const { pattern, routes } of patterns.get(segmentsOf(normalizedPath)) ?? []) {
      const match = pattern.exec(normalizedPath);
      if (match) found.push(...routes.map((route) => ({ route, params: { ...match.groups } })));
    }
    return found;
  };
}

function parametersIn({ path }: Route): number {
  return path.split(':').length - 1;
}

function segmentsOf(path: string): number {
  return path.split('/').length;
}

const ACCESSES = Object.keys({
  admin: true,
  client: true,
  frontend: true,
  ofrep: true,
} satisfies Record<Access, true>) as readonly Access[];

/** The one path under `/edge`. All others there belong to the host. */
const IS_EDGE = /^\/+edge\/+validate\/?$/i;

/** Returns the part of the API that a path belongs to; undefined for paths of the host. */
export function accessOf(path: string): Access | undefined {
  if (IS_EDGE.test(path)) return 'client';
  const [, api, protocol] = /^\/+(?:api\/+(admin|client|frontend)|(ofrep))(?:\/|$)/i.exec(path) ?? [];
  const access = (api ?? protocol)?.toLowerCase();
  return ACCESSES.find((one) => one === access);
}

/**
 * Returns the value of the `Allow` header for these routes: the methods of the most specific path, which comes first.
 * `/events/search` also matches `/events/:featureName`, but a client of the one does not mean the other.
 */
function allowedMethods(found: readonly FoundRoute[]): string {
  const named = found.filter(({ route }) => route.path === found[0]?.route.path);
  const methods = named.flatMap(({ route: { method } }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return [...new Set(methods)].sort().join(', ');
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
  throw invalidInput([{ message: `the path ${path} contains an escape that cannot be decoded` }]);
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
  throw new HttpError('method_not_allowed', `${path} does not support ${method}. Use one of ${allow}.`, { allow });
}
