import type { FlagsError, Token } from '@flags/core';
import { describeUnknownOption } from '@flags/core/integration';
import { isHost } from './origin.js';
import type { Action } from './permissions.js';

/** Who makes a request. Your own user type will do, as long as it has a name. */
export interface Actor {
  /** What the event log attributes changes to; not empty. */
  readonly name: string;
}

/**
 * Tells who makes a request, by whatever your application knows of it (session, cookie, header); null when nobody.
 * What it throws goes to your application's error handler, also a `FlagsError` of an operation that it calls.
 */
export type Authenticate<A extends Actor, Native = unknown> = (
  request: Native,
) => A | null | undefined | Promise<A | null | undefined>;

/**
 * Tells whether an actor may do something. Anything but true is a refusal. What it throws goes to your application's error
 * handler, also a `FlagsError` of an operation that it calls.
 *
 * `useSegment` is asked, beside the action of the request, for every segment that a strategy begins to use.
 *
 * @param project the project that the path names, or that owns the flag or segment which the path names. null for what
 * belongs to the instance: its segments, API tokens, and everything that lists several projects (the list of projects, the
 * whole archive, events, metrics, the playground); and for flags and segments that do not exist
 */
export type Authorize<A extends Actor> = (
  actor: A,
  action: Action,
  project: string | null,
) => boolean | Promise<boolean>;

/** The built-in ways know actors by name only: `authorize` cannot ask for more of them. */
export type BuiltInAuth<A extends Actor> = Actor extends A ? 'token' | 'none' : never;

/** Sessions of people, and API tokens of programs. */
export interface SessionAuth<A extends Actor, Native = unknown> {
  /** The signed-in user of a request, as your application knows it; null when there is none. */
  readonly session: Authenticate<A, Native>;
  readonly tokens: true;
}

/** The options of `createFlagsApi` for sessions and API tokens together. */
export interface SessionApiOptions<A extends Actor = Actor, Native = unknown>
  extends Omit<FlagsApiOptions<A, Native>, 'auth' | 'authorize'> {
  /**
   * Under `/api/admin`, a request is that of the API token of kind `admin` in its header `Authorization`, or else of the
   * signed-in user. The other paths are for SDKs: they take API tokens as with `auth: 'token'`, and no sessions. A token of
   * another kind is refused, whoever is signed in.
   *
   * @example
   * createFlagsApi(flags, {
   *   auth: { session: (request) => request.user ?? null, tokens: true },
   *   authorize: (actor, action, project) => 'kind' in actor || actor.canAdminister(project),
   * });
   */
  readonly auth: SessionAuth<A, Native>;
  /** Everything is allowed to everyone who comes in when absent. Users and tokens are asked about: a token has a `kind`. */
  readonly authorize?: Authorize<A | Token>;
}

/**
 * The options of `createFlagsApi`. Only `auth` is required. `Native` is the request of the framework, which your functions get.
 */
export interface FlagsApiOptions<A extends Actor = Actor, Native = unknown> {
  /**
   * Who may come in.
   *
   * - `'token'`: requests carry an API token (`Authorization: <token>` or `Bearer <token>`), of kind `admin` under
   *   `/api/admin`, `client` under `/api/client`, `frontend` under `/api/frontend` and either of these under `/ofrep`. The
   *   actor has the token's name, and sees the token's project and environment.
   * - `'none'`: everyone, as the actor `anonymous`. The header `Host` has to name this machine: see `allowedHosts`.
   * - a function: the users of your application, under all of them. Where it returns an API token (of `verifyToken`), the
   *   token's kind has to fit the path, and the request sees the token's projects and environment.
   * - `{ session, tokens: true }`: the users of your application and API tokens together. Prefer it to a function that
   *   does both; see {@link SessionApiOptions}.
   */
  readonly auth: Authenticate<A, Native> | BuiltInAuth<A>;
  /** Everything is allowed to everyone who comes in when absent. */
  readonly authorize?: Authorize<A>;
  /** The largest body that is read, in bytes (after decompression); 1 MiB when absent. */
  readonly bodyLimit?: number;
  /** Which pages may use the frontend API and OFREP from a browser; those of the router's own origin alone when absent. */
  readonly cors?: CorsOptions;
  /**
   * Origins, such as `https://admin.example.org`, whose pages may change flags with the cookies of a signed-in user. Without
   * it, only pages of the router's own host may: other pages get 403 `cross_origin`. Requests with an API token, and
   * those that no browser sends, always pass. Needed where a proxy rewrites the header `Host`.
   */
  readonly trustedOrigins?: readonly string[];
  /**
   * Only for `auth: 'none'`: hosts, such as `flags.example.org` or `flags.example.org:8080`, that requests may name in the
   * header `Host` beside `localhost`, addresses and names without a dot. Other hosts get 403 `host_not_allowed`: a page
   * could have its own name resolve to this machine (DNS rebinding).
   */
  readonly allowedHosts?: readonly string[];
  /**
   * Milliseconds between two signs of life on a stream, at which clients are also asked again for their permission;
   * 15,000 when absent. The timer runs while somebody listens, and does not keep the process alive.
   */
  readonly heartbeatInterval?: number;
  /**
   * Told of every error that the router answers with 500 or above itself, before it does: a storage that is busy or
   * unavailable. For your log: the answer has the message alone, the error its `cause`. What it throws goes to your
   * application's error handler. Other faults go there anyway.
   *
   * @example
   * onError: (error, request) => logger.error({ err: error, url: redactUrl(request.originalUrl) })
   */
  readonly onError?: (error: FlagsError, request: Native) => void;
}

/** Cross-origin requests, under `/api/frontend` and `/ofrep` alone. */
export interface CorsOptions {
  /** Such as `https://shop.example.org`, as browsers send them; or `*` for pages of every origin. */
  readonly origins: readonly string[] | '*';
}

const DEFAULT_BODY_LIMIT = 1024 * 1024;
const DEFAULT_HEARTBEAT_INTERVAL = 15_000;
/** Timers go no further. */
const MAX_INTERVAL = 2 ** 31 - 1;

/** A record, so that an option that is added to the type alone does not compile. */
const OPTIONS: Readonly<Record<keyof FlagsApiOptions, true>> = {
  auth: true,
  authorize: true,
  bodyLimit: true,
  cors: true,
  heartbeatInterval: true,
  onError: true,
  trustedOrigins: true,
  allowedHosts: true,
};

/** Refuses options that would leave the router open or without effect; TypeScript's callers cannot give them. */
export function assertOptions<A extends Actor, Native>(
  options: FlagsApiOptions<A, Native> | SessionApiOptions<A, Native> | undefined,
  caller: string,
): void {
  const { auth, authorize, bodyLimit, cors, heartbeatInterval, onError } = options ?? {};
  const fault = describeUnknownOption(options ?? {}, Object.keys(OPTIONS));
  if (fault) throw new TypeError(`${caller} ${fault}`);
  if (auth !== 'none' && auth !== 'token' && typeof auth !== 'function' && !isSessionAuth(auth)) {
    throw new TypeError(`${caller}: auth must be 'token', 'none', a function or { session, tokens: true }.`);
  }
  assertOriginOptions(caller, options);
  if (authorize !== undefined && typeof authorize !== 'function') {
    throw new TypeError(`${caller}: authorize must be a function.`);
  }
  if (onError !== undefined && typeof onError !== 'function') {
    throw new TypeError(`${caller}: onError must be a function.`);
  }
  if (bodyLimit !== undefined && !(Number.isSafeInteger(bodyLimit) && bodyLimit > 0)) {
    throw new TypeError(`${caller}: bodyLimit must be a positive number of bytes.`);
  }
  if (cors !== undefined && cors.origins !== '*' && !(Array.isArray(cors.origins) && cors.origins.every(isOrigin))) {
    throw new TypeError(`${caller}: cors.origins must be '*' or a list such as ['https://shop.example.org'].`);
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

export function bodyLimitOf({ bodyLimit = DEFAULT_BODY_LIMIT }: { readonly bodyLimit?: number }): number {
  return bodyLimit;
}

export function heartbeatIntervalOf({
  heartbeatInterval = DEFAULT_HEARTBEAT_INTERVAL,
}: {
  readonly heartbeatInterval?: number;
}): number {
  return heartbeatInterval;
}

/** As a browser would send it: without a path, not even a slash. */
function isOrigin(text: unknown): boolean {
  return typeof text === 'string' && URL.canParse(text) && new URL(text).origin === text;
}
