import type { Route } from '../route.js';
import type { OperationContext } from './operation-context.js';
import { parametersOf } from './parameters.js';
import { requestBodyOf } from './request-body.js';
import { responsesOf } from './responses.js';
import { securityOf } from './security.js';

export function describeOperation(route: Route, context: OperationContext): object {
  const { action, summary, tag, access, body } = route;
  return {
    operationId: action,
    summary,
    tags: [tag],
    ...(route.deprecated && { deprecated: true }),
    security: securityOf(access, context.auth),
    parameters: parametersOf(route, context),
    ...(body && { requestBody: requestBodyOf(route.method, body, context) }),
    responses: responsesOf(route, context.auth),
  };
}
