import type { FlagsError, Token } from '@flags/core';
import { describeUnknownOption } from '@flags/core/integration/shared';
import type { Actor, Authenticate, Authorize, BuiltInAuth, SessionAuth } from './auth/auth.js';
import { isHost } from './auth/origin.js';
import type { DescribeUsers } from './auth/users.js';

/** The options of `createFlagsApi` for sessions combined with API tokens. */
export interface SessionApiOptions<A extends Actor = Actor, Native = unknown>
  extends Omit<FlagsApiOptions<A, Native>, 'auth' | 'authorize'> {
  /**
   * Authentication by session and by API token.
   *
   * Under `/api/admin`, the API token in the `Authorization` header identifies the caller, and must be of kind `admin`.
   * Without a token, the signed-in user is the caller. SDK paths accept API tokens as with `auth: 'token'`, and no
   * sessions. A token of another kind gets 403, even if a user is signed in.
   *
   * @example
   * createFlagsApi(flags, {
   *   auth: { session: (request) => request.user ?? null, tokens: true },
   *   authorize: (actor, action) => isApiToken(actor) || roles[actor.role](action),
   * });
   */
  readonly auth: SessionAuth<A, Native>;
  /**
   * Checks permissions of users and tokens, which `isApiToken` distinguishes; `roles` has the actions of
   * common roles. Default: every authenticated actor may do everything.
   */
  readonly authorize?: Authorize<A | Token>;
}

/**
 * The options of `createFlagsApi`. Only `auth` is required. Your functions receive the framework's request, of type
 * `Native`.
 */
export interface FlagsApiOptions<A extends Actor = Actor, Native = unknown> {
  /**
   * How requests authenticate.
   *
   * - `'token'`: requests carry an API token (`Authorization: <token>` or `Bearer <token>`). The kind must be `admin` under
   *   `/api/admin`, `client` under `/api/client`, `frontend` under `/api/frontend`, and either `client` or `frontend` under
   *   `/ofrep`. The actor has the token's name, and sees the token's projects and environment.
   * - `'none'`: every caller is the actor `anonymous`. The `Host` header must name this machine; see `allowedHosts`.
   * - a function: returns the user of your application, for all paths. If it returns an API token (of `verifyToken`) or a
   *   spread copy of one, the token's kind must fit the path, and the request sees the token's projects and environment.
   * - `{ session, tokens: true }`: users of your application combined with API tokens. Prefer it to a function that
   *   handles both; see {@link SessionApiOptions}.
   */
  readonly auth: Authenticate<A, Native> | BuiltInAuth<A>;
  /** Checks permissions, for example by `roles`. Default: every authenticated actor may do everything. */
  readonly authorize?: Authorize<A>;
  /** The maximum body size in bytes, after decompression. Default: 1 MiB. */
  readonly bodyLimit?: number;
  /**
   * `{ origins }`: pages that may use the frontend API and OFREP from a browser. Default: only the router's own origin.
   */
  readonly cors?: CorsOptions;
  /**
   * Origins, such as `https://admin.example.org`, whose pages may change flags with a user's cookies. Default: only
   * pages of the router's own host. Other pages get 403 `cross_origin`. Requests with an API token and requests from
   * outside a browser always pass. Set it if a proxy rewrites the `Host` header.
   */
  readonly trustedOrigins?: readonly string[];
  /**
   * Only for `auth: 'none'`: additional hosts to accept in the `Host` header, such as `flags.example.org` or
   * `flags.example.org:8080`. `localhost`, IP addresses and names without a dot always pass. Other hosts get 403
   * `host_not_allowed`, which protects against DNS rebinding.
   */
  readonly allowedHosts?: readonly string[];
  /**
   * Milliseconds between two heartbeats on a stream. Each heartbeat also checks the client's permission again. Default:
   * 15,000. The timer runs only while clients listen, and does not keep the process alive.
   */
  readonly heartbeatInterval?: number;
  /**
   * Whether bulk evaluations over OFREP name the event stream of the router, from which OpenFeature in browsers hears of
   * changes. Default: true.
   *
   * Set it to false if a proxy in front removes a part of the path and sends no `X-Forwarded-Prefix`, or holds streams back:
   * a page whose stream cannot be opened tries again every second.
   */
  readonly ofrepStreams?: boolean;
  /**
   * Returns names and pictures for project members (integer ids) and for actors of the event log (strings). Default: the
   * API shows ids only.
   *
   * It gets the distinct ids of a reply, and may take 2 seconds. Cache the users in it: the API calls it for each request
   * that shows users. Its errors never fail a reply: the names are then absent, and `onError` gets a `user_lookup_failed`
   * whose `cause` is the error.
   *
   * @example
   * describeUsers: async (ids) => new Map((await users.find(ids)).map((user) => [user.id, { name: user.fullName }])),
   */
  readonly describeUsers?: DescribeUsers;
  /**
   * Receives every error for which the router itself replies with 500 or above, before the reply, failures of
   * `describeUsers`, and actors of `auth` whose name or id has a wrong type (`invalid_input`).
   *
   * Such errors mean that the storage is busy or unavailable. Log them: the reply contains only the message, the error
   * also its `cause`. Errors of this function go to your application's error handler, as do all defects.
   *
   * @example
   * onError: (error, request) => logger.error({ err: error, url: redactUrl(request.originalUrl) })
   */
  readonly onError?: (error: FlagsError, request: Native) => void;
}

/** The options of either form. */
export type ApiOptions<A extends Actor, Native> = FlagsApiOptions<A, Native> | SessionApiOptions<A, Native>;

/** Cross-origin access to `/api/frontend` and `/ofrep`. */
export interface CorsOptions {
  /** Origins as browsers send them, such as `https://shop.example.org`; or `*` for every origin. */
  readonly origins: readonly string[] | '*';
}

export const DEFAULT_HEARTBEAT_INTERVAL = 15_000;
/** The maximum delay of a Node timer, in milliseconds. */
const MAX_INTERVAL = 2 ** 31 - 1;

/** The record type requires an entry for every option. */
const OPTIONS: Readonly<Record<keyof FlagsApiOptions, true>> = {
  auth: true,
  authorize: true,
  bodyLimit: true,
  cors: true,
  heartbeatInterval: true,
  ofrepStreams: true,
  describeUsers: true,
  onError: true,
  trustedOrigins: true,
  allowedHosts: true,
};

/** Throws a TypeError for options that would expose the API or have no effect. The types already exclude them. */
export function assertOptions<A extends Actor, Native>(
  options: FlagsApiOptions<A, Native> | SessionApiOptions<A, Native> | undefined,
  caller: string,
): void {
  const { auth, authorize, bodyLimit, cors, describeUsers, heartbeatInterval, ofrepStreams, onError } = options ?? {};
  const fault = describeUnknownOption(options ?? {}, Object.keys(OPTIONS));
  if (fault) throw new TypeError(`${caller} ${fault}`);
  if (auth !== 'none' && auth !== 'token' && typeof auth !== 'function' && !isSessionAuth(auth)) {
    throw new TypeError(`${caller}: auth must be 'token', 'none', a function or { session, tokens: true }.`);
  }
  assertOriginOptions(caller, options);
  for (const [name, value] of Object.entries({ authorize, describeUsers, onError })) {
    if (value !== undefined && typeof value !== 'function') {
      throw new TypeError(`${caller}: ${name} must be a function.`);
    }
  }
  if (bodyLimit !== undefined && !(Number.isSafeInteger(bodyLimit) && bodyLimit > 0)) {
    throw new TypeError(`${caller}: bodyLimit must be a positive number of bytes.`);
  }
  if (cors !== undefined && cors.origins !== '*' && !(Array.isArray(cors.origins) && cors.origins.every(isOrigin))) {
    throw new TypeError(`${caller}: cors.origins must be '*' or a list such as ['https://shop.example.org'].`);
  }
  if (ofrepStreams !== undefined && typeof ofrepStreams !== 'boolean') {
    throw new TypeError(`${caller}: ofrepStreams must be true or false.`);
  }
  if (heartbeatInterval !== undefined && !(heartbeatInterval > 0 && heartbeatInterval <= MAX_INTERVAL)) {
    throw new TypeError(`${caller}: heartbeatInterval must be a positive number of milliseconds.`);
  }
}

function isSessionAuth(auth: unknown): boolean {
  const { session, tokens } = Object(auth) as { readonly session?: unknown; readonly tokens?: unknown };
  return typeof session === 'function' && tokens === true;
}

function assertOriginOptions(
  caller: string,
  { trustedOrigins = [], allowedHosts = [] }: Partial<Pick<FlagsApiOptions, 'trustedOrigins' | 'allowedHosts'>> = {},
): void {
  if (!(Array.isArray(trustedOrigins) && trustedOrigins.every(isOrigin))) {
    throw new TypeError(
      `${caller}: trustedOrigins must be a list such as ['https://admin.example.org'], without paths.`,
    );
  }
  if (!(Array.isArray(allowedHosts) && allowedHosts.every(isHost))) {
    throw new TypeError(`${caller}: allowedHosts must be a list such as ['flags.example.org'], without schemes.`);
  }
}

/** Returns whether the text is an origin as browsers send it: without a path or trailing slash. */
function isOrigin(text: unknown): boolean {
  return typeof text === 'string' && URL.canParse(text) && new URL(text).origin === text;
}
