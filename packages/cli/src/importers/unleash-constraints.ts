import { CONSTRAINT_OPERATORS, type Constraint, type ConstraintOperator } from '@flags/core';
import { type OperandKind, operandOf } from '@flags/core/admin';
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
    const operand = readOperand(operator, constraint, { of, report });
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

interface ReadOperand {
  readonly given: Members;
  readonly value: string;
  /** What the constraint belongs to, for the report. */
  readonly of: string;
  readonly report: Report;
}

type OperandReader = (operand: ReadOperand) => Pick<Constraint, 'value' | 'values'> | undefined;

/** Unleash accepts every date that JavaScript parses, and numbers with surrounding white space. */
const READERS: Readonly<Record<OperandKind, OperandReader>> = {
  texts: readValues,
  networks: readValues,
  number({ value }) {
    const number = value === '' ? Number.NaN : Number(value);
    return Number.isFinite(number) ? { value: `${number}` } : undefined;
  },
  moment({ value, of, report }) {
    const isLocal = LOCAL_TIME.test(value);
    const time = Date.parse(isLocal ? `${value}Z` : value);
    if (Number.isNaN(time)) return undefined;
    if (isLocal) report.add(`${of}: the time ${value} has no offset, and is read as UTC.`);
    return { value: ISO_DATE.test(value) ? value : new Date(time).toISOString() };
  },
  version: ({ value }) => (VERSION.test(value) ? { value } : undefined),
  pattern: ({ value }) => ({ value }),
};

function readValues({ given, of, report }: ReadOperand): Pick<Constraint, 'values'> | undefined {
  const values = withoutBlanks(textsOf(given.values), of, report);
  return values.length > 0 ? { values } : undefined;
}

function readOperand(
  operator: ConstraintOperator,
  given: Members,
  { of, report }: { readonly of: string; readonly report: Report },
): Pick<Constraint, 'value' | 'values'> | undefined {
  return READERS[operandOf(operator) ?? 'texts']({ given, value: textOf(given.value) ?? '', of, report });
}
