export {
  type Action,
  type Actor,
  type Authorize,
  type BuiltInAuth,
  type CorsOptions,
  type DescribeUsers,
  isApiToken,
  redactUrl,
  roles,
  type UserDescription,
  type UserDescriptions,
  type UserId,
  type UserRole,
} from '@flags/http';
export {
  type Authenticate,
  createFlagsRouter,
  type FlagsRouter,
  type FlagsRouterOptions,
  type SessionAuth,
  type SessionRouterOptions,
} from './create-router.js';
export { type ContextOf, type FlagsMiddlewareOptions, flagsMiddleware } from './flags-middleware.js';
