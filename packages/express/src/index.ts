export type { Action } from './action.js';
export { createFlagsRouter } from './create-router.js';
export type { Actor, Authenticate, Authorize, BuiltInAuth, FlagsRouterOptions } from './options.js';
