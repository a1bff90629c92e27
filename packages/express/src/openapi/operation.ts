import type { InputSchemas, Settings } from '@flags/core';
import type { Route } from '../route.js';
import { parametersOf } from './parameters.js';
import { requestBodyOf } from './request-body.js';
import { responsesOf } from './responses.js';
import type { Refer } from './schema-references.js';
import { type AuthMode, securityOf } from './security.js';

/** What describing an operation needs besides its row. */
export interface OperationContext {
  readonly schemas: InputSchemas;
  readonly settings: Settings;
  readonly auth: AuthMode;
  readonly refer: Refer;
}

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
