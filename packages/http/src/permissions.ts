import type { Token } from '@flags/core';
import type { Action } from './roles.js';

/** A part of the API. `ofrep` accepts the tokens of `client` and `frontend`. */
export type Access = 'admin' | 'client' | 'frontend' | 'ofrep';

/** The projects and environments that a request may see. Callers without a token see all of them. */
export interface Scope {
  /** Project ids; `*` means all projects. */
  readonly projects: '*' | readonly string[];
  /** The name of an environment; `*` means all environments. */
  readonly environment: string;
}

/** An authenticated caller. */
export interface Principal {
  readonly name: string;
  readonly scope: Scope;
  /** The API token of the caller. */
  readonly token?: Token | undefined;
  /** Authentication refused the caller. Only open routes reply to it. */
  readonly isOutsider?: true;
  /** Resolves when the caller has the permission. Otherwise rejects with `forbidden`. */
  check(action: Action, project: string | null): Promise<void>;
  /** Checks again whether the caller may do this. The token may have expired, or the permission may be gone. */
  isStillAllowed(action: Action, project: string | null): Promise<boolean>;
  /** Reports whether the token is still valid. Absent when the request carries no token secret. */
  readonly hasValidToken?: (() => Promise<boolean>) | undefined;
}
