import { describeUnknownOption, type FlagsError } from '@flags/core';
import type { Request } from 'express';
import type { Action } from './action.js';

/** Who makes a request. Your own user type will do, as long as it has a name. */
export interface Actor {
  /** What the event log attributes changes to; not empty. */
  readonly name: string;
}

/**
 * Tells who makes a request, by whatever your application knows of it (session, cookie, header); null when nobody.
 * What it throws goes to your application's error handler, also a `FlagsError` of an operation that it calls.
 */
export type Authenticate<A extends Actor> = (request: Request) => A | null | undefined | Promise<A | null | undefined>;

/**
 * Tells whether an actor may do something. Anything but true is a refusal. What it throws goes to your application's error
 * handler, also a `FlagsError` of an operation that it calls.
 *
 * @param project the project that the path names; null where it names none (the archive, events, tokens, metrics, …)
 */
export type Authorize<A extends Actor> = (
  actor: A,
  action: Action,
  project: string | null,
) => boolean | Promise<boolean>;

/** The built-in ways know actors by name only: `authorize` cannot ask for more of them. */
export type BuiltInAuth<A extends Actor> = Actor extends A ? 'token' | 'none' : never;

/** What `createFlagsRouter` takes. Only `auth` is required. */
export interface FlagsRouterOptions<A extends Actor = Actor> {
  /**
   * Who may come in.
   *
   * - `'token'`: requests carry an API token (`Authorization: <token>` or `Bearer <token>`), of kind `admin` under
   *   `/api/admin`, `client` under `/api/client`, `frontend` under `/api/frontend` and either of these under `/ofrep`. The
   *   actor has the token's name, and sees the token's project and environment.
   * - `'none'`: everyone, as the actor `anonymous`.
   * - a function: the users of your application, under all of them.
   */
  readonly auth: Authenticate<A> | BuiltInAuth<A>;
  /** Everything is allowed to everyone who comes in when absent. */
  readonly authorize?: Authorize<A>;
  /** The largest body that is read, in bytes (after decompression); 1 MiB when absent. */
  readonly bodyLimit?: number;
  /** Which pages may use the frontend API and OFREP from a browser; those of the router's own origin alone when absent. */
  readonly cors?: CorsOptions;
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
   * onFault: (error, request) => logger.error({ err: error, url: request.originalUrl })
   */
  readonly onFault?: (error: FlagsError, request: Request) => void;
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
const OPTIONS: Readonly<Record<keyof FlagsRouterOptions, true>> = {
  auth: true,
  authorize: true,
  bodyLimit: true,
  cors: true,
  heartbeatInterval: true,
  onFault: true,
};

/** Refuses options that would leave the router open or without effect; TypeScript's callers cannot give them. */
export function checkOptions<A extends Actor>(options: FlagsRouterOptions<A> | undefined): void {
  const { auth, authorize, bodyLimit, cors, heartbeatInterval, onFault } = options ?? {};
  const fault = describeUnknownOption(options ?? {}, Object.keys(OPTIONS));
  if (fault) throw new TypeError(`createFlagsRouter ${fault}`);
  if (auth !== 'none' && auth !== 'token' && typeof auth !== 'function') {
    throw new TypeError(`createFlagsRouter: auth must be 'token', 'none' or a function.`);
  }
  if (authorize !== undefined && typeof authorize !== 'function') {
    throw new TypeError('createFlagsRouter: authorize must be a function.');
  }
  if (onFault !== undefined && typeof onFault !== 'function') {
    throw new TypeError('createFlagsRouter: onFault must be a function.');
  }
  if (bodyLimit !== undefined && !(Number.isSafeInteger(bodyLimit) && bodyLimit > 0)) {
    throw new TypeError('createFlagsRouter: bodyLimit must be a positive number of bytes.');
  }
  if (cors !== undefined && cors.origins !== '*' && !(Array.isArray(cors.origins) && cors.origins.every(isOrigin))) {
    throw new TypeError(`createFlagsRouter: cors.origins must be '*' or a list such as ['https://shop.example.org'].`);
  }
  if (heartbeatInterval !== undefined && !(heartbeatInterval > 0 && heartbeatInterval <= MAX_INTERVAL)) {
    throw new TypeError('createFlagsRouter: heartbeatInterval must be a positive number of milliseconds.');
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
