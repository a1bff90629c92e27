import type { ConstraintDefinition } from '../../api/definitions.js';
import type { EvaluationContext } from '../../api/evaluation-context.js';
import { LIMITS } from '../../validation/limits.js';
import type { Predicate } from '../context.js';

/** Milliseconds since 1970, UTC. */
export type Now = () => number;

/** As {@link ValueTestFactory}, for the moment of an evaluation instead of a field. */
export type MomentTestFactory = (constraint: ConstraintDefinition, now: Now) => Predicate | undefined;

export const isAfter: MomentTestFactory = (constraint, now) => {
  const moment = Date.parse(String(constraint.value));
  return Number.isNaN(moment) ? undefined : (context) => currentTime(context, now) > moment;
};

export const isBefore: MomentTestFactory = (constraint, now) => {
  const moment = Date.parse(String(constraint.value));
  return Number.isNaN(moment) ? undefined : (context) => currentTime(context, now) < moment;
};

/** NaN for what is no date: it is neither before nor after anything. */
function currentTime(context: EvaluationContext, now: Now): number {
  const moment = context.currentTime;
  if (!moment) return now();
  if (typeof moment !== 'string') return Number(moment);
  if (moment.length <= LIMITS.operandText) return Date.parse(moment);
  return moment.length > LIMITS.contextValue ? now() : Number.NaN;
}
