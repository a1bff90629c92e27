import type { Request } from 'express';
import type { Actor } from '../options.js';
import type { Access } from '../route.js';
import type { Scope } from '../scope.js';

export interface Identity<A extends Actor> {
  readonly actor: A;
  readonly scope: Scope;
}

/** Tells who makes a request, or refuses it with `unauthenticated` or `forbidden`. */
export type Identify<A extends Actor> = (request: Request, access: Access) => Promise<Identity<A>>;
