import type { InputSchemas, JsonSchema } from '@flags/core';
import type { ReplySchema } from '../../route.js';
import { clientSchemas } from './client.js';
import { dependencySchemas } from './dependencies.js';
import { errorSchemas } from './errors.js';
import { eventSchemas } from './events.js';
import { flagSchemas } from './flags.js';
import { frontendSchemas } from './frontend.js';
import { memberSchemas } from './members.js';
import { metricsSchemas } from './metrics.js';
import { ofrepSchemas } from './ofrep.js';
import { playgroundSchemas } from './playground.js';
import { projectSchemas } from './projects.js';
import { segmentSchemas } from './segments.js';
import { strategySchemas } from './strategies.js';
import { tokenSchemas } from './tokens.js';
import { variantSchemas } from './variants.js';

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
