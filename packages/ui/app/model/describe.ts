import { takesValues } from '@flags/core/admin';
import type { Constraint, Strategy } from '../api/types.js';

let findName: (id: number) => string | undefined = () => undefined;

/** Sets the source of segment names for all descriptions. */
export function nameSegmentsBy(find: typeof findName): void {
  findName = find;
}

export function findSegmentName(id: number): string | undefined {
  return findName(id);
}

export function segmentName(id: number): string {
  return findSegmentName(id) ?? `segment ${id}`;
}

/** Describes the missing part of a strategy, such as the value of a constraint; undefined if it can be saved. */
export function missingIn(strategies: readonly Strategy[]): string | undefined {
  return strategies
    .map(({ constraints }, index) => missingConstraint(constraints, ` of strategy ${index + 1}`))
    .find((missing) => missing !== undefined);
}

/** Describes the missing part of the first incomplete constraint. */
export function missingConstraint(constraints: readonly Constraint[], owner = ''): string | undefined {
  for (const [index, { contextName, operator, values = [], value = '' }] of constraints.entries()) {
    const place = `Constraint ${index + 1}${owner}`;
    if (contextName === '') return `${place} has no field yet.`;
    if (takesValues(operator) ? values.length === 0 : value === '') return `${place} has no value yet.`;
  }
  return undefined;
}

/** Returns the rollout in percent; undefined for strategies that have none. */
export function rolloutOf({ parameters }: Pick<Strategy, 'parameters'>): number | undefined {
  const value = parameters?.rollout ?? parameters?.percentage;
  if (value === undefined || value === null || value === '') return undefined;
  return Number.isFinite(Number(value)) ? Number(value) : undefined;
}

/** Splits a text at commas. */
export function splitAtCommas(text: string): readonly string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
}
