/*
 * The operators of constraints as data, for schemas, rules, words, forms and evaluation. The admin page bundles this
 * file. The test of an operator is in `constraints.ts`.
 */

/** What an operator compares with. `texts` and `networks` are lists, in `values`. The others are one text, in `value`. */
export type OperandKind = 'texts' | 'networks' | 'number' | 'moment' | 'version' | 'pattern';

interface OperatorRow {
  readonly operand: OperandKind;
  /** Compares without case if the constraint says `caseInsensitive`. Others ignore that. */
  readonly canIgnoreCase?: true;
  /** Holds for values beyond its operand only, on this side. */
  readonly beyond?: 'above' | 'below';
}

/** Every operator is one row. Forms list them in this order. */
const OPERATORS = {
  IN: { operand: 'texts' },
  NOT_IN: { operand: 'texts' },
  STR_CONTAINS: { operand: 'texts', canIgnoreCase: true },
  STR_STARTS_WITH: { operand: 'texts', canIgnoreCase: true },
  STR_ENDS_WITH: { operand: 'texts', canIgnoreCase: true },
  NUM_EQ: { operand: 'number' },
  NUM_GT: { operand: 'number', beyond: 'above' },
  NUM_GTE: { operand: 'number' },
  NUM_LT: { operand: 'number', beyond: 'below' },
  NUM_LTE: { operand: 'number' },
  DATE_AFTER: { operand: 'moment', beyond: 'above' },
  DATE_BEFORE: { operand: 'moment', beyond: 'below' },
  SEMVER_EQ: { operand: 'version' },
  SEMVER_GT: { operand: 'version', beyond: 'above' },
  SEMVER_GTE: { operand: 'version' },
  SEMVER_LT: { operand: 'version', beyond: 'below' },
  SEMVER_LTE: { operand: 'version' },
  REGEX: { operand: 'pattern', canIgnoreCase: true },
  IN_CIDR: { operand: 'networks' },
} as const satisfies Readonly<Record<string, OperatorRow>>;

/** One of {@link CONSTRAINT_OPERATORS}. */
export type ConstraintOperator = keyof typeof OPERATORS;

/** The operators that compare a context field with an operand. */
export const CONSTRAINT_OPERATORS = Object.keys(OPERATORS) as readonly ConstraintOperator[];

/** The operators with this kind of operand. */
export type OperatorOn<Kind extends OperandKind> = {
  [Name in ConstraintOperator]: (typeof OPERATORS)[Name]['operand'] extends Kind ? Name : never;
}[ConstraintOperator];

/** Returns the row of an operator; undefined for one of a later release, or of another service. */
export function operatorOf(name: string): OperatorRow | undefined {
  return Object.hasOwn(OPERATORS, name) ? OPERATORS[name as ConstraintOperator] : undefined;
}

/** Returns what an operator compares with; undefined for unknown operators. */
export function operandOf(name: string): OperandKind | undefined {
  return operatorOf(name)?.operand;
}

const IS_LIST: Readonly<Record<OperandKind, boolean>> = {
  texts: true,
  networks: true,
  number: false,
  moment: false,
  version: false,
  pattern: false,
};

/** Whether an operator compares with `values`. Unknown operators do. */
export function takesValues(name: string): boolean {
  const operand = operandOf(name);
  return operand === undefined || IS_LIST[operand];
}
