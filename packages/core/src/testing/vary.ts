import { reasonOf } from '../evaluation/problem.js';

/** More combinations are a mistake: they would run for minutes. */
const MAX_COMBINATIONS = 1000;

export type Combination = Readonly<Record<string, boolean | string>>;

/** Returns all combinations of the values of each name. The last name varies fastest. */
export function combine(names: readonly string[], valuesOf: (name: string) => readonly (boolean | string)[]) {
  let combinations: readonly Combination[] = [{}];
  for (const name of new Set(names)) {
    const values = valuesOf(name);
    if (combinations.length * values.length > MAX_COMBINATIONS) {
      throw new RangeError(`vary: these flags have more than ${MAX_COMBINATIONS} combinations; vary fewer flags.`);
    }
    combinations = combinations.flatMap((one) => values.map((value) => ({ ...one, [name]: value })));
  }
  return combinations;
}

interface Failure {
  readonly combination: Combination;
  readonly error: unknown;
}

/** Runs all combinations one after another, synchronously until one returns a promise. Then throws if any failed. */
export function runAll(
  combinations: readonly Combination[],
  run: (combination: Combination) => unknown,
): Promise<void> | undefined {
  const failures: Failure[] = [];
  for (const [index, combination] of combinations.entries()) {
    try {
      const result = run(combination);
      if (isPromise(result)) return finish(result, { index, failures, combinations, run });
    } catch (error) {
      failures.push({ combination, error });
    }
  }
  throwIfFailed(failures, combinations.length);
  return undefined;
}

interface Progress {
  readonly index: number;
  readonly failures: Failure[];
  readonly combinations: readonly Combination[];
  readonly run: (combination: Combination) => unknown;
}

async function finish(first: PromiseLike<unknown>, { index, failures, combinations, run }: Progress): Promise<void> {
  let result: unknown = first;
  for (const combination of combinations.slice(index)) {
    try {
      await (result ?? run(combination));
    } catch (error) {
      failures.push({ combination, error });
    }
    result = undefined;
  }
  throwIfFailed(failures, combinations.length);
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as Partial<PromiseLike<unknown>> | null | undefined)?.then === 'function';
}

function throwIfFailed(failures: readonly Failure[], total: number): void {
  if (failures.length === 0) return;
  const lines = failures.map(({ combination, error }) => `${JSON.stringify(combination)}: ${reasonOf(error)}`);
  const message = `${failures.length} of ${total} combinations failed.\n${lines.join('\n')}`;
  throw new AggregateError(
    failures.map(({ error }) => error),
    message,
    { cause: failures[0]?.error },
  );
}
