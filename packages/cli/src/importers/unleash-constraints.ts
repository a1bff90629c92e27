import { CONSTRAINT_OPERATORS, type Constraint, type ConstraintOperator } from '@flags/core';
import { listOf, textOf, textsOf } from './importer.js';

export interface ConvertedConstraints {
  readonly constraints: readonly Constraint[];
  /** False if a constraint can never hold, or is unknown. */
  readonly holds: boolean;
}

/** Converts constraints. Those without values, which Unleash permits, always hold or never do. */
export function toConstraints(given: unknown): ConvertedConstraints {
  const constraints: Constraint[] = [];
  let holds = true;
  for (const { contextName, operator, values, value, inverted, caseInsensitive } of listOf(given)) {
    if (!isOperator(operator)) {
      holds = false;
      continue;
    }
    const members = {
      contextName: `${contextName}`,
      operator,
      ...(inverted === true && { inverted }),
      ...(caseInsensitive === true && { caseInsensitive }),
    };
    if (/^(NUM|DATE|SEMVER|REGEX)/.test(operator)) {
      constraints.push({ ...members, value: textOf(value) ?? `${value}` });
      continue;
    }
    const own = textsOf(values).filter((one) => one !== '');
    if (own.length > 0) constraints.push({ ...members, values: own });
    else if ((operator === 'NOT_IN') === (inverted === true)) holds = false;
  }
  return { constraints, holds };
}

function isOperator(operator: unknown): operator is ConstraintOperator {
  return (CONSTRAINT_OPERATORS as readonly unknown[]).includes(operator);
}
