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
export type { Action } from './permissions.js';
export { redactUrl } from './redact-url.js';
