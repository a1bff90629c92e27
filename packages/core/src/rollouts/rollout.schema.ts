import { LIMITS } from '../base/limits.js';
import type { ObjectSchema } from '../base/primitives.js';
import { createValidator, invalidInput } from '../base/validator.js';
import { ROLLOUT_STATES, type RolloutStep } from './rollout.js';
import type { AdvanceOptions, NewRollout, NewRolloutStep, RolloutQuery, StopOptions } from './rollout.types.js';

const step: ObjectSchema<NewRolloutStep> = {
  type: 'object',
  properties: {
    rollout: { type: 'integer', minimum: 0, maximum: 100 },
    hold: { type: ['integer', 'null'], minimum: 0, maximum: LIMITS.rolloutHold },
  },
  required: ['rollout'],
};

const newRollout: ObjectSchema<NewRollout> = {
  type: 'object',
  properties: {
    steps: { type: 'array', items: step, minItems: 1, maxItems: LIMITS.rolloutSteps },
    guarded: { type: 'boolean' },
  },
  required: ['steps'],
};

const rolloutQuery: ObjectSchema<RolloutQuery> = {
  type: 'object',
  properties: {
    state: { type: 'string', enum: ROLLOUT_STATES },
    project: { type: 'string' },
    flag: { type: 'string' },
  },
};

const advanceOptions: ObjectSchema<AdvanceOptions> = {
  type: 'object',
  properties: { step: { type: 'integer', minimum: 0, maximum: LIMITS.rolloutSteps } },
};

const stopOptions: ObjectSchema<StopOptions> = { type: 'object', properties: { rollback: { type: 'boolean' } } };

const validateNew = createValidator<NewRollout>(newRollout);
export const validateRolloutQuery = createValidator<RolloutQuery>(rolloutQuery);
export const validateAdvance = createValidator<AdvanceOptions>(advanceOptions);
export const validateStop = createValidator<StopOptions>(stopOptions);

/** Returns the steps in their stored form, with defaults. Throws `invalid_input`. */
export function readSteps(input: NewRollout): {
  readonly steps: readonly RolloutStep[];
  readonly guarded: boolean;
} {
  const { steps: given, guarded = false } = validateNew(input);
  const steps = given.map(({ rollout, hold }, index) => {
    if (hold !== undefined) return { rollout, hold };
    if (index === given.length - 1) return { rollout, hold: 0 };
    const message = 'must be milliseconds until the next step, or null: until a person advances the rollout';
    throw invalidInput([{ message, path: `/steps/${index}/hold` }]);
  });
  return { steps, guarded };
}
