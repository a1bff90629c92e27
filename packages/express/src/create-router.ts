import type { ServerResponse } from 'node:http';
import type { Flags } from '@flags/core';
import {
  type Actor,
  type Authenticate as AuthenticateNative,
  createFlagsApi,
  type FlagsApiOptions,
  type FlagsSource,
  fromNode,
  handleNode,
  type SessionApiOptions,
  type SessionAuth as SessionAuthNative,
} from '@flags/http';
import type { Request, RequestHandler } from 'express';

/** Returns the actor of an Express request, or null if no user is signed in. */
export type Authenticate<A extends Actor> = AuthenticateNative<A, Request>;

/** Authentication by sessions (people) and API tokens (programs). */
export interface SessionAuth<A extends Actor> extends SessionAuthNative<A, Request> {}

/** The options of `createFlagsRouter`. Only `auth` is required. Your functions receive the Express request. */
export interface FlagsRouterOptions<A extends Actor = Actor> extends FlagsApiOptions<A, Request> {}

/** The options of `createFlagsRouter` for sessions combined with API tokens. */
export interface SessionRouterOptions<A extends Actor = Actor> extends SessionApiOptions<A, Request> {}

/** The Express handler, and a method that closes its streams. */
export interface FlagsRouter extends RequestHandler {
  /**
   * Ends all streams (`/api/client/streaming`) and refuses new ones with `closed`.
   *
   * Other requests still get their replies. Call it before you close the server, which waits for open connections.
   * `flags.close()` also ends the streams. Repeated calls do nothing.
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
 * Creates an Express router that serves the HTTP API of these flags.
 *
 * The router serves the admin API under `/api/admin` and server-side SDKs under `/api/client`. It serves browser SDKs
 * under `/api/frontend` and the OpenFeature Remote Evaluation Protocol under `/ofrep`. Mount it at the root or at any
 * path, before or after your own body parsers. Requests for other paths pass through.
 *
 * Every refused request gets a JSON reply, also while the storage is busy or unavailable. To log such errors, see
 * {@link FlagsRouterOptions.onError}. Defects and errors of your own functions go to your application's error handler.
 *
 * @param flags The flags to serve, or a follower, which has no admin API. You close them; the router does not.
 * @param options `auth` is required; every other option has a default.
 * @returns The router, with a `close` method for its streams.
 * @throws TypeError when `flags` is not the resolved value of `openFlags`, or when an option is invalid
 * @example
 * const flags = await openFlags({ storage: sqliteStorage('flags.db') });
 * const app = express();
 * app.use(createFlagsRouter(flags, { auth: 'token' }));
 */
export function createFlagsRouter<A extends Actor = Actor>(
  flags: Flags | FlagsSource,
  options: FlagsRouterOptions<A>,
): FlagsRouter;
/** Creates a router that accepts both sessions and API tokens. */
export function createFlagsRouter<A extends Actor = Actor>(
  flags: Flags | FlagsSource,
  options: SessionRouterOptions<A>,
): FlagsRouter;
export function createFlagsRouter<A extends Actor>(
  flags: Flags | FlagsSource,
  options: FlagsRouterOptions<A> | SessionRouterOptions<A>,
): FlagsRouter {
  const api = createFlagsApi<A, Request>(flags, options, 'createFlagsRouter');
  const router: RequestHandler = (request, response: ServerResponse, next) => {
    assertExpress(request);
    if (!api.isOwnPath(request.path)) return next();
    const neutral = fromNode(request, {
      response,
      path: request.path,
      ip: () => request.ip,
      prefix: () => (isProxyTrusted(request) ? request.get('x-forwarded-prefix') : undefined),
      // Host functions and metrics middleware may read the route and its parameters.
      onMatch(path, params) {
        request.params = params;
        request.route = { path };
      },
    });
    handleNode(api, { request: neutral, response, next }).catch(next);
  };
  return Object.assign(router, { close: () => api.close() });
}

/** Whether the setting `trust proxy` of the application trusts the sender of the request. */
function isProxyTrusted({ app, socket }: Request): boolean {
  const isTrusted: (address: string | undefined, hop: number) => boolean = app.get('trust proxy fn');
  return isTrusted(socket.remoteAddress, 0);
}

/** Express supplies the path below the mount, and the client address behind proxies. */
function assertExpress(request: { readonly path?: unknown }): void {
  if (request.path !== undefined) return;
  throw new TypeError(
    'createFlagsRouter: the router was called without Express. Write createServer(express().use(router)) for plain node:http, ' +
      'or use toNodeHandler of @flags/http.',
  );
}
