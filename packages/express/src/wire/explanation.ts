import type { ConstraintExplanation, FlagConfiguration, FlagExplanation, JsonSchema } from '@flags/core';
import { contextSchema, type WireContext } from './evaluation-context.js';
import { evaluatedVariantToWire } from './frontend.js';

/** What a client wants to have explained: one flag, those of a project, or all. */
export interface WirePlayground {
  readonly environment: string;
  readonly context: WireContext;
  readonly project?: string;
  readonly flag?: string;
  readonly from?: string;
}

export const playgroundSchema: JsonSchema = {
  type: 'object',
  properties: {
    environment: { type: 'string' },
    context: contextSchema,
    project: { type: 'string', minLength: 1, description: 'Only flags of this project.' },
    flag: { type: 'string', minLength: 1, description: 'Only this flag.' },
    from: { type: 'string', minLength: 1, description: 'Only this flag and those after it: `next` of another answer.' },
  },
  required: ['environment', 'context'],
};

/** In characters: what the operands and values in the explanation of one flag may take. */
const ROOM = 256 * 1024;

/**
 * Members that were not decided upon are undefined, and so not in the JSON. Strategies may share a segment with very many
 * values: beyond some room, constraints are shown without them.
 */
export function explanationToWire({ project }: FlagConfiguration, explanation: FlagExplanation) {
  const { flag, enabled, reason, variant, dependencies, strategies, variantChoice } = explanation;
  const toWire = createConstraintCutter();
  return {
    name: flag,
    project,
    enabled,
    reason,
    variant: evaluatedVariantToWire(variant),
    dependencies,
    strategies: strategies.map((strategy) => ({
      ...strategy,
      constraints: strategy.constraints.map(toWire),
      segments: strategy.segments.map((segment) => ({ ...segment, constraints: segment.constraints.map(toWire) })),
    })),
    variantChoice: variantChoice && {
      ...variantChoice,
      variant: variantChoice.variant ? evaluatedVariantToWire(variantChoice.variant) : null,
    },
  };
}

function createConstraintCutter() {
  let room = ROOM;
  return (explained: ConstraintExplanation) => {
    const { constraint, holds } = explained;
    const size = sizeOf(explained, room);
    room -= size;
    if (room >= 0) return explained;
    room = 0;
    const { values: _values, value: _value, ...rest } = constraint;
    return { constraint: { ...rest, values: [] }, holds, isCut: true };
  };
}

/** In characters; no more is counted than decides. */
function sizeOf({ constraint, value = '' }: ConstraintExplanation, room: number): number {
  const { values = [] } = constraint;
  if (values.length > room) return values.length;
  return values.reduce((sum, text) => sum + text.length + 3, value.length + (constraint.value?.length ?? 0));
}
