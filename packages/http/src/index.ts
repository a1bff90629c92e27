export { isApiToken } from '@flags/core/integration';
export { createFlagsApi, type FlagsApi } from './create-api.js';
export { type FetchHandler, type FetchHandlerOptions, toFetchHandler } from './fetch-handler.js';
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
} from './node-handler.js';
export type {
  Actor,
  Authenticate,
  Authorize,
  BuiltInAuth,
  CorsOptions,
  FlagsApiOptions,
  SessionApiOptions,
  SessionAuth,
} from './options.js';
export type { FlagsReply } from './reply.js';
export type { BodyMeter, FlagsRequest, ReplySink } from './request.js';
export { redactUrl } from './request.js';
export type { Action } from './roles.js';
export { roles, type UserRole } from './roles.js';
export type { DescribeUsers, UserDescription, UserDescriptions, UserId } from './users.js';
