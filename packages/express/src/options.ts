import type { Request } from 'express';
import type { Action } from './action.js';

/** Who makes a request. Your own user type will do, as long as it has a name. */
export interface Actor {
  /** What the event log attributes changes to; not empty. */
  readonly name: string;
}

/**
 * Tells who makes a request, by whatever your application knows of it (session, cookie, header); null when nobody.
 * What it throws goes to your application's error handler.
 */
export type Authenticate<A extends Actor> = (request: Request) => A | null | undefined | Promise<A | null | undefined>;

/**
 * Tells whether an actor may do something. Anything but true is a refusal.
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
   *   `/api/admin` and of kind `client` under `/api/client`. The actor has the token's name.
   * - `'none'`: everyone, as the actor `anonymous`.
   * - a function: the users of your application, under both.
   */
  readonly auth: Authenticate<A> | BuiltInAuth<A>;
  /** Everything is allowed to everyone who comes in when absent. */
  readonly authorize?: Authorize<A>;
  /** The largest body that is read, in bytes (after decompression); 1 MiB when absent. */
  readonly bodyLimit?: number;
}

const DEFAULT_BODY_LIMIT = 1024 * 1024;

/** Refuses options that would leave the router open or without effect; TypeScript's callers cannot give them. */
export function checkOptions<A extends Actor>(options: FlagsRouterOptions<A> | undefined): void {
  const { auth, authorize, bodyLimit } = options ?? {};
  if (auth !== 'none' && auth !== 'token' && typeof auth !== 'function') {
    throw new TypeError(`createFlagsRouter: auth must be 'token', 'none' or a function.`);
  }
  if (authorize !== undefined && typeof authorize !== 'function') {
    throw new TypeError('createFlagsRouter: authorize must be a function.');
  }
  if (bodyLimit !== undefined && !(Number.isSafeInteger(bodyLimit) && bodyLimit > 0)) {
    throw new TypeError('createFlagsRouter: bodyLimit must be a positive number of bytes.');
  }
}

export function bodyLimitOf({ bodyLimit = DEFAULT_BODY_LIMIT }: { readonly bodyLimit?: number }): number {
  return bodyLimit;
}
