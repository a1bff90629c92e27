import type { Method, RouteBody } from '../route.js';
import type { OperationContext } from './operation-context.js';

const MEDIA_TYPES: Readonly<Record<Method, readonly string[]>> = {
  GET: [],
  POST: ['application/json'],
  PUT: ['application/json'],
  PATCH: ['application/json-patch+json', 'application/json'],
  DELETE: ['application/json'],
};

export function requestBodyOf(method: Method, body: RouteBody, { schemas, refer }: OperationContext): object {
  const media = { schema: refer(body.schema(schemas)) };
  return {
    required: body.required,
    content: Object.fromEntries(MEDIA_TYPES[method].map((type) => [type, media])),
  };
}
