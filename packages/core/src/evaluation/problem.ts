/** What is wrong with a definition, or went wrong while one was evaluated. Evaluation goes on regardless. */
export interface EvaluationProblem {
  readonly code: EvaluationProblemCode;
  /** The flag concerned, if one is. */
  readonly flag?: string;
  /** The segment concerned, if one is. */
  readonly segment?: number;
  /** One sentence that names the thing and says what comes of it. */
  readonly message: string;
}

/**
 * - `broken_flag`: the definition cannot be read; the flag is off.
 * - `broken_segment`: the definition cannot be read; strategies with that segment do not hold.
 * - `missing_segment`: a strategy names a segment that does not exist; it does not hold.
 * - `unknown_strategy`: neither built in nor registered; it does not hold.
 * - `unknown_operator`: the constraint never holds, inverted or not.
 * - `unusable_operand`: the operand is no number, date, version or pattern; the constraint holds only inverted.
 * - `strategy_failed`: a strategy of the host threw; it does not hold.
 * - `evaluation_failed`: the context could not be read; the flag is off, or on without a variant.
 * - `impression_failed`: the host's `onImpression` threw.
 */
export type EvaluationProblemCode =
  | 'broken_flag'
  | 'broken_segment'
  | 'missing_segment'
  | 'unknown_strategy'
  | 'unknown_operator'
  | 'unusable_operand'
  | 'strategy_failed'
  | 'evaluation_failed'
  | 'impression_failed';

const REMEMBERED = 10_000;

/** Tells the host of each problem once; when it has told of very many it forgets, and may repeat itself. */
export class ProblemReporter {
  private readonly told = new Set<string>();

  constructor(private readonly tell: ((problem: EvaluationProblem) => void) | undefined) {}

  /** `topic` tells problems with one code on one flag apart: what is thrown anew each time may word itself anew. */
  report(problem: EvaluationProblem, topic = problem.message): void {
    if (this.tell === undefined) return;
    const key = JSON.stringify([problem.code, problem.flag, problem.segment, topic]);
    if (this.told.has(key)) return;
    if (this.told.size >= REMEMBERED) this.told.clear();
    this.told.add(key);
    try {
      this.tell(problem);
    } catch {
      // Evaluation never throws, also when the host's listener does.
    }
  }
}

/** The words of something thrown, whatever it is. */
export function reasonOf(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return 'something that cannot become text was thrown';
  }
}
