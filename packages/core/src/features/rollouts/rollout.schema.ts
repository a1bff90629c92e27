import * as compiled from '../../base/compiled-schemas.js';
import type { ErrorDetail } from '../../base/errors.js';
import { LIMITS } from '../../base/limits.js';
import type { ObjectSchema } from '../../base/primitives.js';
import { createValidator } from '../../base/validator.js';
import { ROLLOUT_STATES } from '../flags/strategy-rollout.types.js';
import type { AdvanceOptions, NewRollout, NewRolloutStep, RolloutQuery, StopOptions } from './rollout.types.js';

const step: ObjectSchema<NewRolloutStep> = {
  type: 'object',
  properties: {
    percentage: { type: 'integer', minimum: 0, maximum: 100 },
    hold: { type: ['integer', 'null'], minimum: 0, maximum: LIMITS.rolloutHold },
  },
  required: ['percentage'],
};

export const newRollout: ObjectSchema<NewRollout> = {
  type: 'object',
  properties: {
    steps: { type: 'array', items: step, minItems: 1, maxItems: LIMITS.rolloutSteps },
    guarded: { type: 'boolean' },
  },
  required: ['steps'],
};

export function* findRolloutIssues({ steps }: NewRollout): Generator<ErrorDetail> {
  const message = 'must be milliseconds until the next step, or null: until a person advances the rollout';
  for (const [index, { hold }] of steps.slice(0, -1).entries()) {
    if (hold === undefined) yield { message, path: `/steps/${index}/hold` };
  }
}

export const rolloutAdvance: ObjectSchema<AdvanceOptions> = {
  type: 'object',
  properties: { step: { type: 'integer', minimum: 0, maximum: LIMITS.rolloutSteps } },
};

export const rolloutStop: ObjectSchema<StopOptions> = {
  type: 'object',
  properties: { rollback: { type: 'boolean' } },
};

export const rolloutQuery: ObjectSchema<RolloutQuery> = {
  type: 'object',
  properties: {
    state: { type: 'string', enum: ROLLOUT_STATES },
    project: { type: 'string' },
    flag: { type: 'string' },
  },
};

export const validateRolloutQuery = createValidator<RolloutQuery>(compiled.rolloutQuery);
