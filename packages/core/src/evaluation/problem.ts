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

/** Definitions come from storage and other services, so their types are checked when they are read. */

/**
 * Returns a list; absent means empty.
 *
 * @throws TypeError if the value is not an array
 */
export function toList<Item>(value: readonly Item[] | null | undefined, what: string): readonly Item[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new TypeError(`${what} must be an array`);
  return value;
}

/** One empty list, because an instance may have tens of thousands of flags. */
export const NONE: readonly never[] = Object.freeze([]);

/** Converts the items of a list. An absent list counts as empty. */
export function mapList<Item, Result>(
  value: readonly Item[] | null | undefined,
  what: string,
  convert: (item: Item) => Result,
): readonly Result[] {
  const list = toList(value, what);
  return list.length === 0 ? NONE : list.map(convert);
}

/** Returns a list of text without empty entries. Numbers and booleans are converted. */
export function toTexts(value: readonly string[] | null | undefined, what: string): string[] {
  const entries: readonly unknown[] = toList(value, what);
  return entries
    .filter((entry) => entry !== '' && entry !== null && entry !== undefined)
    .map((entry) => toText(entry, what));
}

/** Returns text, or undefined if absent. Numbers and booleans are converted. */
export function toOptionalText(value: unknown, what: string): string | undefined {
  return value === undefined || value === null ? undefined : toText(value, what);
}

export function toText(value: unknown, what: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new TypeError(`${what} must be text`);
}

/** Converts a number or numeric text; returns NaN for other values. */
export function toNumber(value: unknown): number {
  return typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN;
}

/** Returns undefined if the value has another type, or if reading it throws. */
export function readKey<Key>(read: () => Key, type: 'string' | 'number' | 'boolean'): NonNullable<Key> | undefined {
  try {
    const key = read();
    return typeof key === type ? (key as NonNullable<Key>) : undefined;
  } catch {
    return undefined;
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
