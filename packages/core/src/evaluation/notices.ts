import type { EvaluationProblem } from '../api/evaluation-problem.js';
import type { ProblemReporter } from './problem.js';

const MOST = 100;

/**
 * Problems that predicates find in a context. Predicates are built once and know no reporter, so a snapshot reports the
 * notices after each evaluation. Evaluation is synchronous: the notices are those of the evaluation that has just ended.
 */
class Notices {
  /** A member, not a getter: it is read with every evaluation. */
  hasAny = false;
  private list: EvaluationProblem[] = [];

  add(problem: EvaluationProblem): void {
    if (this.list.length < MOST) this.list.push(problem);
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
