import type { ContextualFlags, EnvironmentChoice, EvaluationContext, Flags } from '@flags/core';
import { describeNonFlags, describeUnknownOption } from '@flags/core/integration';
import type { NextFunction, Request, Response } from 'express';

/** Tells whom a request is for. What it throws goes to your application's error handler. */
export type ContextOf = (request: Request) => EvaluationContext;

export type FlagsMiddlewareOptions = EnvironmentChoice;

/**
 * Makes middleware that gives every request `request.flags`: the answers for its context, all from the state of the moment
 * at which the request came in. Mount it after what the context is made of (sessions, users). Costs no input or output.
 *
 * TypeScript learns of `request.flags` by `import '@flags/express/request'`, once, anywhere in your application; without
 * that line this package adds nothing to Express's types.
 *
 * @throws TypeError for flags or options that cannot be used; FlagsError `environment_not_found`
 * @example
 * import '@flags/express/request';
 *
 * app.use(flagsMiddleware(flags, (request) => ({ userId: request.session.userId, remoteAddress: request.ip })));
 * app.get('/checkout', (request, response) => {
 *   response.render(request.flags.isEnabled('checkout') ? 'new-checkout' : 'checkout');
 * });
 */
export function flagsMiddleware(
  flags: Flags,
  contextOf: ContextOf,
  options: FlagsMiddlewareOptions = {},
): (request: Request, response: Response, next: NextFunction) => void {
  const fault =
    describeNonFlags(flags) ??
    describeUnknownOption(options, ['environment']) ??
    (typeof contextOf === 'function' ? undefined : 'needs a function that tells the context of a request.');
  if (fault) throw new TypeError(`flagsMiddleware ${fault}`);
  // Refuses an environment that does not exist now, not with every request.
  flags.forContext({}, options);
  return (request, _response, next) => {
    const own: { flags: ContextualFlags } = { flags: flags.forContext(contextOf(request), options) };
    Object.assign(request, own);
    next();
  };
}
