/**
 * Whom and what a flag is evaluated for. Constraints and stickiness name its members, or else own members of
 * `properties`; a value counts as its string. Whatever it holds, evaluation does not throw.
 */
export interface EvaluationContext {
  readonly userId?: string | number | undefined;
  readonly sessionId?: string | number | undefined;
  readonly remoteAddress?: string | undefined;
  readonly environment?: string | undefined;
  readonly appName?: string | undefined;
  /** What `DATE_*` compare; the snapshot's `now` when absent. */
  readonly currentTime?: Date | string | undefined;
  readonly properties?: Readonly<Record<string, unknown>> | undefined;
}

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
