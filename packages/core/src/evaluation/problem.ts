/** A problem with a definition or an evaluation. Evaluation continues. */
export interface EvaluationProblem {
  readonly code: EvaluationProblemCode;
  /** The affected flag, if any. */
  readonly flag?: string;
  /** The affected segment, if any. */
  readonly segment?: number;
  /** One sentence that names the cause and its effect. */
  readonly message: string;
}

/**
 * - `broken_flag`: the definition cannot be read; the flag is off.
 * - `broken_segment`: the definition cannot be read; strategies with that segment do not hold.
 * - `missing_segment`: a strategy names a segment that does not exist; the strategy does not hold.
 * - `unknown_flag`: no live flag has the name that the application evaluates; it gets the fallback.
 * - `unknown_strategy`: the strategy is neither built in nor registered; it does not hold.
 * - `unknown_operator`: the constraint never holds, inverted or not.
 * - `unusable_operand`: the operand is not a valid number, date, version or pattern; the constraint holds only if
 *   inverted.
 * - `no_effect`: a part of a strategy, a segment or variants has no effect, or not the one that it seems to have: a date
 *   operator on another field than `currentTime`, a misspelt stickiness, `caseInsensitive` beside an operator that
 *   compares case.
 * - `strategy_failed`: a custom strategy threw; it does not hold.
 * - `evaluation_failed`: the context could not be read; the flag is off, or on without a variant.
 * - `context_value_too_long`: a context value exceeds 4,096 characters, and counts as absent, or 500 characters, and
 *   matches no regular expression.
 * - `too_costly`: strategies, a segment or parents could take too long to evaluate; whatever exceeds the limit does not
 *   hold.
 * - `impression_failed`: the host's `onImpression` threw.
 * - `invalid_payload`: a payload cannot be read, or does not fit the declared one; `getPayload` returns the fallback.
 */
export type EvaluationProblemCode =
  | 'broken_flag'
  | 'broken_segment'
  | 'missing_segment'
  | 'unknown_flag'
  | 'unknown_strategy'
  | 'unknown_operator'
  | 'unusable_operand'
  | 'no_effect'
  | 'strategy_failed'
  | 'evaluation_failed'
  | 'context_value_too_long'
  | 'too_costly'
  | 'impression_failed'
  | 'invalid_payload';

const MAX_REPORTED = 10_000;

/** Reports each problem to the host once. After 10,000 problems it starts over and may repeat some. */
export class ProblemReporter {
  private readonly reported = new Set<string>();

  constructor(private readonly listener: ((problem: EvaluationProblem) => void) | undefined) {}

  /** `topic` identifies a problem among those with the same code and flag. Pass one if the message varies. */
  report(problem: EvaluationProblem, topic = problem.message): void {
    if (this.listener === undefined) return;
    const key = JSON.stringify([problem.code, problem.flag, problem.segment, topic]);
    if (this.reported.has(key)) return;
    if (this.reported.size >= MAX_REPORTED) this.reported.clear();
    this.reported.add(key);
    try {
      this.listener(problem);
    } catch {
      // Evaluation never throws, even if the host's listener does.
    }
  }
}

/** Reports nothing. */
export const SILENT = new ProblemReporter(undefined);

/** Returns the message of a thrown value of any type. */
export function reasonOf(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return 'the thrown value cannot be converted to text';
  }
}

const MAX_NOTICES = 100;

/**
 * Collects problems that predicates find in a context. Predicates have no reporter, so a snapshot reports the notices
 * after each evaluation. Evaluation is synchronous, so all notices belong to the evaluation that has just ended.
 */
class Notices {
  /** A field, because every evaluation reads it. */
  hasAny = false;
  private list: EvaluationProblem[] = [];

  add(problem: EvaluationProblem): void {
    if (this.list.length < MAX_NOTICES) this.list.push(problem);
    this.hasAny = true;
  }

  reportTo(problems: ProblemReporter): void {
    const { list } = this;
    this.list = [];
    this.hasAny = false;
    for (const problem of list) problems.report(problem);
  }
}

export const notices = new Notices();
