import type { Request } from 'express';
import type { Actor } from '../options.js';
import type { Access } from '../route.js';

/** Tells who makes a request, or refuses it with `unauthenticated` or `forbidden`. */
export type Identify<A extends Actor> = (request: Request, access: Access) => Promise<A>;
