import type { EvaluationProblem } from './evaluated.types.js';

const MAX_REPORTED = 10_000;

/** Reports each problem to the host once. After {@link MAX_REPORTED} problems it starts over and may repeat some. */
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
    return 'something that cannot become text was thrown';
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
