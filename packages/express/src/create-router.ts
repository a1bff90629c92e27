import type { ServerResponse } from 'node:http';
import type { Flags } from '@flags/core';
import {
  type Actor,
  type Authenticate as AuthenticateNative,
  createFlagsApi,
  type FlagsApiOptions,
  fromNode,
  handleNode,
  type SessionApiOptions,
  type SessionAuth as SessionAuthNative,
} from '@flags/http';
import type { Request, RequestHandler } from 'express';

/** Returns the actor of a request of Express; null when nobody is signed in. */
export type Authenticate<A extends Actor> = AuthenticateNative<A, Request>;

/** Sessions of people, and API tokens of programs. */
export interface SessionAuth<A extends Actor> extends SessionAuthNative<A, Request> {}

/** The options of `createFlagsRouter`. Only `auth` is required. Your functions get the request of Express. */
export interface FlagsRouterOptions<A extends Actor = Actor> extends FlagsApiOptions<A, Request> {}

/** The options of `createFlagsRouter` for sessions and API tokens together. */
export interface SessionRouterOptions<A extends Actor = Actor> extends SessionApiOptions<A, Request> {}

/** The router, and the way to end its streams. */
export interface FlagsRouter extends RequestHandler {
  /**
   * Ends all streams (`/api/client/streaming`) and refuses further ones with `closed`; every other request is served as
   * before. Call it before you close the server, which waits for open connections. `flags.close()` ends the streams too.
   * Calling it again does nothing.
   *
   * @example
   * process.once('SIGTERM', () => {
   *   router.close();
   *   server.close(() => void flags.close());
   * });
   */
  close(): void;
}

/**
 * Creates a router that serves these flags: the admin API under `/api/admin`, server-side SDKs under `/api/client`, browser
 * SDKs under `/api/frontend`, and the OpenFeature Remote Evaluation Protocol under `/ofrep`. Mount it at the root or at any
 * path, before or after body parsers of your own; requests for other paths pass through. Every refused request is answered as
 * JSON, also while the storage is busy or unavailable (see {@link FlagsRouterOptions.onError}). Defects, and errors of your
 * own functions, go to your application's error handler.
 *
 * @param flags stays yours to close
 * @throws TypeError when `flags` is a promise or something else, or an option is not valid
 * @example
 * const flags = await createFlags({ storage: sqliteStorage('flags.db') });
 * const app = express();
 * app.use(createFlagsRouter(flags, { auth: 'token' }));
 */
export function createFlagsRouter<A extends Actor = Actor>(flags: Flags, options: FlagsRouterOptions<A>): FlagsRouter;
/** The same with sessions and API tokens together. */
export function createFlagsRouter<A extends Actor = Actor>(flags: Flags, options: SessionRouterOptions<A>): FlagsRouter;
export function createFlagsRouter<A extends Actor>(
  flags: Flags,
  options: FlagsRouterOptions<A> | SessionRouterOptions<A>,
): FlagsRouter {
  const api = createFlagsApi<A, Request>(flags, options, 'createFlagsRouter');
  const router: RequestHandler = (request, response: ServerResponse, next) => {
    assertExpress(request);
    if (!api.isOwnPath(request.path)) return next();
    const rawQuery = queryOf(request.url);
    const neutral = fromNode(request, {
      path: request.path,
      rawQuery,
      ip: () => request.ip,
      // The host's own functions and its measuring middleware may look at them.
      onMatch(path, params) {
        request.params = params;
        request.route = { path };
      },
    });
    handleNode(api, { request: neutral, response, next }).catch(next);
  };
  return Object.assign(router, { close: () => api.close() });
}

/** The router needs what Express adds to a request: its path below the mount, and the address behind proxies. */
function assertExpress(request: { readonly path?: unknown }): void {
  if (request.path !== undefined) return;
  throw new TypeError(
    'createFlagsRouter: the router was called without Express. Write createServer(express().use(router)) for plain node:http, ' +
      'or use toNodeHandler of @flags/http.',
  );
}

/** Without the question mark and without a fragment, which Express leaves out of the path too. */
function queryOf(url: string): string {
  const [target = ''] = url.split('#', 1);
  const mark = target.indexOf('?');
  return mark === -1 ? '' : target.slice(mark + 1);
}
