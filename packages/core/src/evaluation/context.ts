import type { EvaluationContext } from '../api/evaluation-context.js';

/** A condition on the context, built once and called for every evaluation. */
export type Predicate = (context: EvaluationContext) => boolean;

export const always: Predicate = () => true;
export const never: Predicate = () => false;

/** One predicate that holds while all of them do, asked in order. */
export function allOf(predicates: readonly Predicate[]): Predicate {
  const asked = predicates.filter((predicate) => predicate !== always);
  const [first, second, third] = asked;
  if (first === undefined) return always;
  if (second === undefined) return first;
  if (third === undefined) return (context) => first(context) && second(context);
  if (asked.length === 3) return (context) => first(context) && second(context) && third(context);
  return (context) => {
    for (const predicate of asked) if (!predicate(context)) return false;
    return true;
  };
}
