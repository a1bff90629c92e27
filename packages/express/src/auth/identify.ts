import type { Token } from '@flags/core';
import type { Request } from 'express';
import type { Actor } from '../options.js';
import type { Access } from '../route.js';
import type { Scope } from '../scope.js';

export interface Identity<A extends Actor> {
  readonly actor: A;
  readonly scope: Scope;
  /** The API token that the actor is. */
  readonly token?: Token;
  /**
   * The header `Authorization` holds the secret of that token: no browser sends it by itself, so the request is not forged
   * by a page of another origin.
   */
  readonly hasSecret?: true;
}

/** Tells who makes a request, or refuses it with `unauthenticated` or `forbidden`. */
export type Identify<A extends Actor> = (request: Request, access: Access) => Promise<Identity<A>>;
