import type { InputSchemas, JsonSchema } from '@flags/core/integration';
import type { ReplySchema } from '../../route.js';
import { eventSchemas, memberSchemas, metricsSchemas, projectSchemas, tokenSchemas } from './admin.js';
import { clientSchemas, frontendSchemas, ofrepSchemas, playgroundSchemas } from './clients.js';
import { errorSchemas } from './common.js';
import { dependencySchemas, flagSchemas, segmentSchemas, strategySchemas, variantSchemas } from './flags.js';

/** The schemas of all answers and of what they are made of; an answer without one does not compile. */
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
    ...clientSchemas,
    ...frontendSchemas,
    ...ofrepSchemas,
    ...playgroundSchemas,
    ...errorSchemas,
    OpenApiDocument: { type: 'object', required: ['openapi', 'info', 'paths'] },
  } satisfies Readonly<Record<ReplySchema, JsonSchema>> & Readonly<Record<string, JsonSchema>>;
  return schemas;
}
