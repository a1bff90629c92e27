export type { Action } from './action.js';
export { createFlagsRouter, type FlagsRouter } from './create-router.js';
export { type ContextOf, type FlagsMiddlewareOptions, flagsMiddleware } from './flags-middleware.js';
export type {
  Actor,
  Authenticate,
  Authorize,
  BuiltInAuth,
  CorsOptions,
  FlagsRouterOptions,
  SessionAuth,
  SessionRouterOptions,
} from './options.js';
export { redactUrl } from './redact-url.js';
