import type { EvaluationProblem } from './evaluated.types.js';

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

/** Definitions come from storage and from other services: what the types promise is checked where it is read. */

/** A list, none when absent. */
export function listOf<Item>(value: readonly Item[] | null | undefined, what: string): readonly Item[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new TypeError(`${what} must be an array`);
  return value;
}

/** A list of text without its empty entries; numbers and booleans count as their string. */
export function textsOf(value: readonly string[] | null | undefined, what: string): string[] {
  const entries: readonly unknown[] = listOf(value, what);
  return entries
    .filter((entry) => entry !== '' && entry !== null && entry !== undefined)
    .map((entry) => text(entry, what));
}

/** Text, none when absent; a number or boolean counts as its string. */
export function textOrNone(value: unknown, what: string): string | undefined {
  return value === undefined || value === null ? undefined : text(value, what);
}

export function text(value: unknown, what: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new TypeError(`${what} must be text`);
}

/** The number that a value stands for, NaN when it stands for none. */
export function numberOf(value: unknown): number {
  return typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN;
}

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
