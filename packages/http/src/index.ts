export { isApiToken } from '@flags/core/integration/http';
export type { Action, UserRole } from './actions.js';
export { type FetchHandler, type FetchHandlerOptions, toFetchHandler } from './adapters/fetch.js';
export {
  fromNode,
  handleNode,
  type NextHandler,
  type NodeExchange,
  type NodeHandler,
  type NodeHandlerOptions,
  type NodeMount,
  type NodeRequest,
  toNodeHandler,
} from './adapters/node.js';
export type { FlagsApi } from './api/create-api.js';
export type { Actor, Authenticate, Authorize, BuiltInAuth, SessionAuth } from './auth/auth.js';
export { roles } from './auth/roles.js';
export type { DescribeUsers, UserDescription, UserDescriptions, UserId } from './auth/users.js';
export { createFlagsApi } from './create-flags-api.js';
export type { FlagsReply, ReplySink } from './messages/reply.js';
export { type BodyMeter, type FlagsRequest, redactUrl } from './messages/request.js';
export type { CorsOptions, FlagsApiOptions, SessionApiOptions } from './options.js';
export type { FlagsSource, FollowedSource } from './source.js';
