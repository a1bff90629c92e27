import { CONSTRAINT_OPERATORS, type Constraint, type ConstraintOperator } from '@flags/core';
import { listOf, type Members, type Report, textOf, textsOf, withoutBlanks } from './importer.js';

export interface ConvertedConstraints {
  readonly constraints: readonly Constraint[];
  /** False if a constraint matches no context. */
  readonly holds: boolean;
}

/**
 * Converts constraints. As in the SDKs, a constraint without a usable operand never matches, and always if inverted.
 *
 * @param of the flag or segment, for notes
 */
export function toConstraints(given: unknown, of: string, report: Report): ConvertedConstraints {
  const constraints: Constraint[] = [];
  let holds = true;
  for (const constraint of listOf(given)) {
    const { contextName, operator, caseInsensitive } = constraint;
    const inverted = constraint.inverted === true;
    if (!isOperator(operator)) {
      holds = false;
      continue;
    }
    const operand = operandOf(operator, constraint, { of, report });
    if (operand) {
      constraints.push({
        contextName: `${contextName}`,
        operator,
        ...operand,
        ...(inverted && { inverted }),
        ...(caseInsensitive === true && { caseInsensitive }),
      });
    } else if ((operator === 'NOT_IN') === inverted) holds = false;
  }
  return { constraints, holds };
}

function isOperator(operator: unknown): operator is ConstraintOperator {
  return (CONSTRAINT_OPERATORS as readonly unknown[]).includes(operator);
}

const VERSION = /^\d+\.\d+\.\d+([-+]|$)/;
/** A date alone is its midnight in UTC. */
const ISO_DATE = /^\d{4}-\d\d-\d\d(T.*(?:[Zz]|[+-]\d\d:?\d\d))?$/;
/** Its moment would depend on the time zone of the process that reads it. */
const LOCAL_TIME = /^\d{4}-\d\d-\d\dT[\d:.]+$/;

/** Unleash accepts every date that JavaScript parses, and numbers with surrounding white space. */
function operandOf(
  operator: ConstraintOperator,
  given: Members,
  { of, report }: { readonly of: string; readonly report: Report },
): Pick<Constraint, 'value' | 'values'> | undefined {
  const value = textOf(given.value) ?? '';
  if (operator.startsWith('NUM_')) {
    const number = value === '' ? Number.NaN : Number(value);
    return Number.isFinite(number) ? { value: `${number}` } : undefined;
  }
  if (operator.startsWith('DATE_')) {
    const isLocal = LOCAL_TIME.test(value);
    const time = Date.parse(isLocal ? `${value}Z` : value);
    if (Number.isNaN(time)) return undefined;
    if (isLocal) report.add(`${of}: the time ${value} has no offset, and is read as UTC.`);
    return { value: ISO_DATE.test(value) ? value : new Date(time).toISOString() };
  }
  if (operator.startsWith('SEMVER_')) return VERSION.test(value) ? { value } : undefined;
  if (operator === 'REGEX') return { value };
  const values = withoutBlanks(textsOf(given.values), of, report);
  return values.length > 0 ? { values } : undefined;
}
