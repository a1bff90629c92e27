import type { EvaluationProblem } from '../api/evaluation-problem.js';

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
