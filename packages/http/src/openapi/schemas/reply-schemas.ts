import type { InputSchemas, JsonSchema } from '@flags/core/integration';
import type { ReplySchema } from '../../route.js';
import { eventSchemas, memberSchemas, metricsSchemas, projectSchemas, sessionSchemas, tokenSchemas } from './admin.js';
import { changeSchemas } from './changes.js';
import { clientSchemas, frontendSchemas, ofrepSchemas, playgroundSchemas } from './clients.js';
import { errorSchemas, text } from './common.js';
import { dependencySchemas, flagSchemas, segmentSchemas, strategySchemas, variantSchemas } from './flags.js';

/** Returns all reply schemas and their components. The type check requires a schema for every reply. */
export function replySchemas(inputs: InputSchemas): Readonly<Record<string, JsonSchema>> {
  const schemas = {
    ...projectSchemas,
    ...memberSchemas,
    ...flagSchemas,
    ...strategySchemas(inputs),
    ...variantSchemas,
    ...dependencySchemas,
    ...segmentSchemas,
    ...metricsSchemas,
    ...tokenSchemas,
    ...eventSchemas,
    ...sessionSchemas,
    ...changeSchemas,
    ...clientSchemas,
    ...frontendSchemas,
    ...ofrepSchemas,
    ...playgroundSchemas,
    ...errorSchemas,
    OpenApiDocument: {
      type: 'object',
      properties: { openapi: text, info: { type: 'object' }, paths: { type: 'object' } },
      required: ['openapi', 'info', 'paths'],
    },
  } satisfies Readonly<Record<ReplySchema, JsonSchema>> & Readonly<Record<string, JsonSchema>>;
  return schemas;
}
