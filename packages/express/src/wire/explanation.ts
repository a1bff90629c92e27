import type { FlagConfiguration, FlagExplanation, JsonSchema } from '@flags/core';
import { contextSchema, type WireContext } from './evaluation-context.js';
import { evaluatedVariantToWire } from './frontend.js';

/** What a client wants to have explained: one flag, those of a project, or all. */
export interface WirePlayground {
  readonly environment: string;
  readonly context: WireContext;
  readonly project?: string;
  readonly flag?: string;
}

export const playgroundSchema: JsonSchema = {
  type: 'object',
  properties: {
    environment: { type: 'string' },
    context: contextSchema,
    project: { type: 'string', minLength: 1, description: 'Only flags of this project.' },
    flag: { type: 'string', minLength: 1, description: 'Only this flag.' },
  },
  required: ['environment', 'context'],
};

/** Members that were not decided upon are undefined, and so not in the JSON. */
export function explanationToWire({ project }: FlagConfiguration, explanation: FlagExplanation) {
  const { flag, enabled, reason, variant, dependencies, strategies, variantChoice } = explanation;
  return {
    name: flag,
    project,
    enabled,
    reason,
    variant: evaluatedVariantToWire(variant),
    dependencies,
    strategies,
    variantChoice: variantChoice && {
      ...variantChoice,
      variant: variantChoice.variant ? evaluatedVariantToWire(variantChoice.variant) : null,
    },
  };
}
