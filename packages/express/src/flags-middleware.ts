import type { ContextualFlags, EvaluationContext, Flags, FlagsSchema, TypedContext, TypedFlags } from '@flags/core';
import { type TypedChoice, withoutMapping } from '@flags/core/integration/http';
import { describeNonFlags, describeUnknownOption } from '@flags/core/integration/shared';
import type { EnvironmentChoice } from '@flags/core/types';
import type { NextFunction, Request, Response } from 'express';

/** Returns the evaluation context of a request. Its errors go to your application's error handler. */
export type ContextOf = (request: Request) => EvaluationContext;

/** Options of `flagsMiddleware`. */
export type FlagsMiddlewareOptions = EnvironmentChoice;

/**
 * Creates middleware that sets `request.flags`, an evaluator for the context of the request.
 *
 * All evaluations of a request use the configuration at the time when the request arrived. Mount the middleware after
 * the middleware that supplies the context, such as sessions. It performs no I/O. Concurrent requests are independent.
 *
 * `request.ip` of an IPv4 client is `::ffff:192.0.2.1` if the server listens on IPv6. As `remoteAddress`, it is the IPv4
 * address.
 *
 * Import `@flags/express/request` once in your application to declare `request.flags` in TypeScript. Without this
 * import, the package does not extend the Express types.
 *
 * If the flags have a schema, the context accepts its properties. Register the schema for the type of `request.flags`:
 * see `Register` of `@flags/core`.
 *
 * @param flags The flags to evaluate. You close them; the middleware does not.
 * @param contextOf Returns the evaluation context of a request.
 * @param options The environment to evaluate. Default: the environment of `flags`.
 * @returns The middleware.
 * @throws TypeError when `flags` or an option is invalid
 * @throws FlagsError `environment_not_found`
 * @example
 * import '@flags/express/request';
 *
 * app.use(flagsMiddleware(flags, (request) => ({ userId: request.session.userId, remoteAddress: request.ip })));
 * app.get('/checkout', (request, response) => {
 *   response.render(request.flags.isEnabled('checkout') ? 'new-checkout' : 'checkout');
 * });
 */
export function flagsMiddleware<Schema extends FlagsSchema>(
  flags: TypedFlags<Schema>,
  contextOf: (request: Request) => TypedContext<Schema>,
  options?: TypedChoice<Schema>,
): (request: Request, response: Response, next: NextFunction) => void;
/** Creates middleware for flags without a schema. */
export function flagsMiddleware(
  flags: Flags,
  contextOf: ContextOf,
  options?: FlagsMiddlewareOptions,
): (request: Request, response: Response, next: NextFunction) => void;
export function flagsMiddleware(
  flags: Flags,
  contextOf: ContextOf,
  options: FlagsMiddlewareOptions = {},
): (request: Request, response: Response, next: NextFunction) => void {
  const fault =
    describeNonFlags(flags) ??
    describeUnknownOption(options, ['environment']) ??
    (typeof contextOf === 'function' ? undefined : 'needs a function that returns the context of a request.');
  if (fault) throw new TypeError(`flagsMiddleware ${fault}`);
  // Reports a missing environment at start-up instead of on each request.
  flags.forContext({}, options);
  return (request, _response, next) => {
    const own: { flags: ContextualFlags } = { flags: flags.forContext(withPlainAddress(contextOf(request)), options) };
    Object.assign(request, own);
    next();
  };
}

function withPlainAddress(context: EvaluationContext): EvaluationContext {
  const address = context?.remoteAddress;
  return typeof address === 'string' ? { ...context, remoteAddress: withoutMapping(address) } : context;
}
